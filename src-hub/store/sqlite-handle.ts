import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { AnetError } from '@shared/errors.ts'
import type { SqliteHandle } from '@shared/sql/index.ts'

interface SqliteModule {
  readonly DatabaseSync: new (path: string) => SqliteHandle
}

/** Opens a private file with `node:sqlite` where the runtime has it, `@photostructure/sqlite` with the same API elsewhere. */
export async function openSqlite(path: string): Promise<SqliteHandle> {
  // made here and not by SQLite, so that nobody else can read it; SQLite gives its other files the same mode
  const file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600)
  await file.close()
  const builtIn = process.getBuiltinModule('node:sqlite') as SqliteModule | undefined
  const { DatabaseSync } = builtIn ?? ((await import('@photostructure/sqlite')) as unknown as SqliteModule)
  return new DatabaseSync(path)
}

/**
 * Holds `path` for this process as long as the returned handle is open. The lock is SQLite's own, which the kernel
 * takes back from a process that was killed. Error: `hub_already_running`.
 */
export async function lockDirectory(path: string): Promise<SqliteHandle> {
  const handle = await openSqlite(path)
  try {
    handle.exec('PRAGMA journal_mode = MEMORY')
    handle.exec('BEGIN EXCLUSIVE')
    return handle
  } catch (cause) {
    handle.close()
    throw new AnetError('hub_already_running', 'Another hub runs on this data directory.', {
      remedy: 'Stop it first, or give this one a directory of its own.',
      cause,
    })
  }
}
