import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import {
  configureSqlite,
  createSqlDatabase,
  migrate,
  type Migration,
  type SqlDatabase,
  type SqlDatabaseOptions,
  type SqliteHandle,
} from '../../src-shared/sql/index.ts'
import { openSqlite } from '../../src-main/node/store/sqlite.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** A database on a real file, with its handle: for what only SQLite can do to itself. */
export async function temporaryDatabase(
  migrations: readonly Migration[],
  options: Partial<SqlDatabaseOptions> = {},
): Promise<{ database: SqlDatabase; handle: SqliteHandle; path: string }> {
  const path = join(await temporaryFolder(), 'test.db')
  const handle = await openSqlite(path)
  configureSqlite(handle)
  migrate(handle, migrations)
  const database = createSqlDatabase(handle, { schedule: setImmediate, ...options })
  onTestFinished(() => database.close())
  return { database, handle, path }
}
