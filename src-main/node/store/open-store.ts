import { join } from 'node:path'
import { type AnetError, isAnetError } from '@shared/errors.ts'
import {
  configureSqlite,
  createSqlDatabase,
  databaseDamaged,
  migrate,
  type Migration,
  type SqlDatabase,
  type SqliteHandle,
  storageError,
} from '@shared/sql/index.ts'
import { checkPrivateFile, createPrivateFile } from '../data-dir/index.ts'
import type { Clock, Log } from '../ports.ts'
import { contentMigration, createContent } from './content.ts'
import { ContentFiles } from './content-files.ts'
import { createEvidence, evidenceMigration } from './evidence.ts'
import { clockMigration, createHighWaterClock } from './high-water-clock.ts'
import { checkKey, keyCheckMigration } from './key-check.ts'
import { type OpenMarker, placeMarker } from './open-marker.ts'
import { openSqlite } from './sqlite.ts'
import type { Store } from './types.ts'

export interface StoreOptions {
  /** An existing directory that only its owner can enter (data-dir). */
  readonly dataDir: string
  /** 32 bytes from the secret store. */
  readonly wrappingKey: Uint8Array
  /** Of the floors above, in their order; the store adds its own. */
  readonly migrations: readonly Migration[]
  readonly log: Log
  readonly clock: Clock
  /** Told once, when stored data turns out to be damaged. {@link Store.damage} says it from then on. */
  readonly onDamage?: (error: AnetError) => void
}

const ownMigrations = [contentMigration, evidenceMigration, clockMigration, keyCheckMigration]

/**
 * Opens `node.db` and `attachments/` in the data directory, or makes them. After an end that was not clean the whole
 * database is checked first. Errors: `database_damaged` (nothing is overwritten), `database_newer`,
 * `database_key_mismatch`, `database_busy`, `disk_full`, `data_dir_read_only`, and those
 * of `checkPrivateFile`.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { dataDir, wrappingKey, clock, log } = options
  const path = join(dataDir, 'node.db')
  let damage: AnetError | undefined
  const onDamage = (error: AnetError) => {
    if (damage !== undefined) return
    damage = error
    log.error({ code: error.code }, error.message)
    options.onDamage?.(error)
  }

  let handle: SqliteHandle | undefined
  let marker: OpenMarker | undefined
  try {
    // SQLite would make the file as the umask says; its side files take their mode from it
    if (!(await checkPrivateFile(path))) await createPrivateFile(path, '')
    marker = await placeMarker(path)
    handle = await openSqlite(path)
    configureSqlite(handle)
    if (marker.endedUncleanly) quickCheck(handle, log)
    migrate(handle, [...ownMigrations, ...options.migrations])
    checkKey(handle, wrappingKey)
    const database = createSqlDatabase(handle, {
      // a commit stops the event loop: what this turn hands to a socket, at its end at the latest, leaves before
      schedule: (run) => void setImmediate(() => setImmediate(run)),
      delay: setTimeout,
      onFatal: onDamage,
      onCallbackError: (error) => log.error({ err: error }, 'an announcement after a commit failed'),
    })
    const files = await ContentFiles.open(join(dataDir, 'attachments'))
    const isKept = (name: string) => database.read.get('SELECT 1 FROM content_files WHERE name = ?', name) !== undefined
    const removed = await files.removeOrphans(isKept)
    if (removed > 0) log.info({ files: removed }, 'removed stored files that nothing refers to')
    return assemble(database, {
      content: createContent({ database, files, wrappingKey, onDamage }),
      evidence: createEvidence(database.read, clock),
      monotonicNow: createHighWaterClock(clock),
      damage: () => damage,
      closed: async () => {
        if (damage === undefined) await marker?.remove()
      },
    })
  } catch (error) {
    handle?.close()
    const named = storageError(error)
    // whatever else it is that kept it from opening, the file is as it was
    if (marker?.endedUncleanly === false && !isAnetError(named, 'database_damaged')) await marker.remove()
    if (isAnetError(named)) log.error({ code: named.code }, named.message)
    throw named
  }
}

type Parts = Pick<Store, 'content' | 'evidence' | 'monotonicNow'> & {
  readonly damage: () => AnetError | undefined
  readonly closed: () => Promise<void>
}

function assemble(database: SqlDatabase, { damage, closed, ...parts }: Parts): Store {
  let closing: Promise<void> | undefined
  return {
    ...parts,
    read: database.read,
    get damage() {
      return damage()
    },
    write: (work, waiting) => {
      const error = damage()
      return error === undefined ? database.write(work, waiting) : Promise.reject(error)
    },
    close: () => (closing ??= database.close().then(closed)),
  }
}

function quickCheck(handle: SqliteHandle, log: Log): void {
  log.warn('the database was not closed properly: checking it')
  const rows = handle.prepare('PRAGMA quick_check(1)').all() as { quick_check: string }[]
  if (rows[0]?.quick_check !== 'ok') throw databaseDamaged('The database file did not pass its check.')
}
