import type { Db, Migration, SqlDatabase, SqliteHandle, SqlValue, Tx } from '@shared/sql/index.ts'

export function createSqlDatabase(handle: SqliteHandle, migrations: readonly Migration[]): SqlDatabase {
  handle.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
  handle.exec('CREATE TABLE IF NOT EXISTS migrations (id TEXT PRIMARY KEY)')
  for (const { id, sql } of migrations) {
    if (handle.prepare('SELECT 1 FROM migrations WHERE id = ?').get(id) !== undefined) continue
    handle.exec(`BEGIN; ${sql}`)
    handle.prepare('INSERT INTO migrations VALUES (?)').run(id)
    handle.exec('COMMIT')
  }
  const cache = new Map<string, ReturnType<SqliteHandle['prepare']>>()
  const prepare = (sql: string) => {
    let statement = cache.get(sql)
    if (statement === undefined) cache.set(sql, (statement = handle.prepare(sql)))
    return statement
  }
  const read: Db = {
    get: <R>(sql: string, ...values: SqlValue[]) => prepare(sql).get(...values) as R | undefined,
    all: <R>(sql: string, ...values: SqlValue[]) => prepare(sql).all(...values) as R[],
  }
  let queue: { work: (tx: Tx) => unknown; done: (value: never) => void; failed: (error: unknown) => void }[] = []
  const flush = () => {
    const batch = queue
    queue = []
    const after: (() => void)[] = []
    const settle: (() => void)[] = []
    const tx: Tx = {
      ...read,
      run: (sql, ...values) => {
        const { changes, lastInsertRowid } = prepare(sql).run(...values)
        return { changes: Number(changes), lastInsertRowid: Number(lastInsertRowid) }
      },
      afterCommit: (announce) => void after.push(announce),
    }
    handle.exec('BEGIN IMMEDIATE')
    for (const { work, done, failed } of batch) {
      const mark = after.length
      handle.exec('SAVEPOINT one')
      try {
        const value = work(tx)
        handle.exec('RELEASE one')
        settle.push(() => done(value as never))
      } catch (error) {
        handle.exec('ROLLBACK TO one; RELEASE one')
        after.length = mark
        settle.push(() => failed(error))
      }
    }
    try {
      handle.exec('COMMIT')
    } catch (error) {
      for (const { failed } of batch) failed(error)
      return
    }
    for (const one of after) one()
    for (const one of settle) one()
  }
  return {
    read,
    write: (work) =>
      new Promise((done, failed) => {
        queue.push({ work, done, failed })
        if (queue.length === 1) setImmediate(flush)
      }),
    close: async () => {
      await new Promise((done) => setImmediate(done))
      handle.close()
    },
  }
}
