import { AnetError } from '../errors.ts'
import { rollBack } from './migrate.ts'
import { Statements } from './statements.ts'
import { storageError } from './storage-error.ts'
import type { Db, SqlDatabase, SqliteHandle, SqlValue, Tx } from './types.ts'

export interface SqlDatabaseOptions {
  /** Runs a callback in the next turn of the event loop: `setImmediate`. */
  readonly schedule: (callback: () => void) => void
}

interface Job {
  readonly work: (tx: Tx) => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown }

/** Durability and waiting times of every database of ANet. */
export function configureSqlite(handle: SqliteHandle): void {
  for (const pragma of [
    'journal_mode = WAL',
    'synchronous = FULL',
    'foreign_keys = ON',
    'busy_timeout = 5000',
    'temp_store = MEMORY',
    'cache_size = -16000',
  ]) {
    handle.exec(`PRAGMA ${pragma}`)
  }
}

/** {@link SqlDatabase} over an open handle that {@link configureSqlite} and `migrate` have seen. */
export function createSqlDatabase(handle: SqliteHandle, options: SqlDatabaseOptions): SqlDatabase {
  const statements = new Statements(handle)
  let queue: Job[] = []
  let announcements: (() => void)[] = []
  let scheduled = false
  let closed = false

  const read: Db = {
    get: <R>(sql: string, ...values: SqlValue[]) => statements.get(sql).get(...values) as R | undefined,
    all: <R>(sql: string, ...values: SqlValue[]) => statements.get(sql).all(...values) as R[],
  }
  const run: Tx['run'] = (sql, ...values) => {
    const { changes, lastInsertRowid } = statements.get(sql).run(...values)
    return { changes: Number(changes), lastInsertRowid: Number(lastInsertRowid) }
  }
  const tx: Tx = { ...read, run, afterCommit: (announce) => void announcements.push(announce) }

  /** One work in a batch of several: undone alone if it throws. */
  const runInSavepoint = (job: Job): Outcome => {
    const before = announcements.length
    run('SAVEPOINT work')
    try {
      const value = job.work(tx)
      run('RELEASE work')
      return { ok: true, value }
    } catch (error) {
      run('ROLLBACK TO work')
      run('RELEASE work')
      announcements.length = before
      return { ok: false, error: storageError(error) }
    }
  }

  const runAlone = (job: Job): Outcome => ({ ok: true, value: job.work(tx) })

  const commit = (jobs: readonly Job[]): void => {
    announcements = []
    let outcomes: Outcome[]
    try {
      run('BEGIN IMMEDIATE')
      outcomes = jobs.map(jobs.length === 1 ? runAlone : runInSavepoint)
      run('COMMIT')
    } catch (error) {
      rollBack(handle)
      const named = storageError(error)
      for (const job of jobs) job.reject(named)
      return
    }
    const announced = announcements
    for (const announce of announced) announce()
    for (const [index, job] of jobs.entries()) {
      const outcome = outcomes[index]
      if (outcome?.ok === true) job.resolve(outcome.value)
      else job.reject(outcome?.error)
    }
  }

  const drain = (): void => {
    scheduled = false
    const jobs = queue
    queue = []
    if (jobs.length > 0) commit(jobs)
  }

  return {
    read,
    write: <T>(work: (tx: Tx) => T) =>
      new Promise<T>((resolve, reject) => {
        if (closed) {
          reject(new AnetError('database_closed', 'The database is closed: the node is stopping.'))
          return
        }
        queue.push({ work, resolve: resolve as (value: unknown) => void, reject })
        if (scheduled) return
        scheduled = true
        options.schedule(drain)
      }),
    close: () => {
      if (!closed) {
        closed = true
        drain()
        handle.exec('PRAGMA wal_checkpoint(TRUNCATE)')
        handle.close()
      }
      return Promise.resolve()
    },
  }
}
