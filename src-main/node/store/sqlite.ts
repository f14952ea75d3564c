import type { SqliteHandle } from '@shared/sql/index.ts'

interface SqliteModule {
  readonly DatabaseSync: new (path: string) => SqliteHandle
}

/** Opens a SQLite file: `node:sqlite` where the runtime has it, `@photostructure/sqlite` with the same API elsewhere. */
export async function openSqlite(path: string): Promise<SqliteHandle> {
  const { DatabaseSync } = builtIn() ?? ((await import('@photostructure/sqlite')) as unknown as SqliteModule)
  return new DatabaseSync(path)
}

/** Node 22 and 24 print an ExperimentalWarning when the module is loaded, which tells users nothing they can act on. */
function builtIn(): SqliteModule | undefined {
  const emitWarning = process.emitWarning.bind(process)
  process.emitWarning = () => undefined
  try {
    return process.getBuiltinModule('node:sqlite') as SqliteModule | undefined
  } finally {
    process.emitWarning = emitWarning
  }
}
