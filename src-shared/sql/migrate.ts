import { AnetError } from '../errors.ts'
import { storageError } from './storage-error.ts'
import type { Migration, SqliteHandle } from './types.ts'

/**
 * Brings a database to this program's schema. Migrations run in the order given, each in a transaction together with
 * the record that it ran. Errors: `database_newer` if a newer program has been at this file (nothing is changed), and
 * those of {@link storageError}.
 */
export function migrate(handle: SqliteHandle, migrations: readonly Migration[]): void {
  try {
    handle.exec('CREATE TABLE IF NOT EXISTS schema_migrations (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE)')
    const rows = handle.prepare('SELECT id FROM schema_migrations').all() as { id: string }[]
    const done = new Set(rows.map((row) => row.id))
    const known = new Set(migrations.map((migration) => migration.id))
    if (known.size < migrations.length) throw new Error('Two migrations have the same id.')
    for (const id of done) if (!known.has(id)) throw newerDatabase(id)
    for (const migration of migrations) if (!done.has(migration.id)) runMigration(handle, migration)
  } catch (error) {
    throw storageError(error)
  }
}

function runMigration(handle: SqliteHandle, { id, sql }: Migration): void {
  handle.exec('BEGIN IMMEDIATE')
  try {
    handle.exec(sql)
    handle.prepare('INSERT INTO schema_migrations (id) VALUES (?)').run(id)
    handle.exec('COMMIT')
  } catch (error) {
    rollBack(handle)
    throw error
  }
}

/** Ends whatever transaction is open. SQLite may have ended it by itself: after a full disk, for one. */
export function rollBack(handle: SqliteHandle): void {
  try {
    handle.exec('ROLLBACK')
  } catch {
    // no transaction is open any more, which is what was wanted
  }
}

function newerDatabase(id: string): AnetError {
  return new AnetError('database_newer', `The database was written by a newer version of ANet (it has "${id}").`, {
    remedy: 'Start the newer version, or put back a backup from before the update.',
  })
}
