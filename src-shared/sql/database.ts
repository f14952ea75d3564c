import { AnetError, isAnetError } from '../errors.ts'
import { rollBack } from './migrate.ts'
import { Statements } from './statements.ts'
import { storageError } from './storage-error.ts'
import { Transaction } from './transaction.ts'
import type { Db, SqlDatabase, SqliteHandle, SqlValue, Tx, WriteOptions } from './types.ts'

/** Transactions in one commit. A bound, so that a flood of writes does not keep the process from everything else. */
const batchSize = 256
/** How long a write that may wait does so, in milliseconds, and how many of them together wait no longer. */
const patience = 100
const patientAtOnce = 4

export interface SqlDatabaseOptions {
  /** Runs a function in a turn of its own, soon: `setImmediate`. */
  readonly schedule: (run: () => void) => unknown
  /** Runs a function after so many milliseconds: `setTimeout`. Without it no write waits. */
  readonly delay?: (run: () => void, ms: number) => unknown
  /** Told once, when the file turns out to be damaged (`database_damaged`). Every later write is refused with it. */
  readonly onFatal?: (error: AnetError) => void
  /** Told of an `afterCommit` callback that threw. Without it the error is thrown in a turn of its own. */
  readonly onCallbackError?: (error: unknown) => void
}

interface Job {
  readonly work: (tx: Tx) => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  /** What the work returned, or threw. */
  result: unknown
  failed: boolean
}

/** WAL with a sync at every commit: what was acknowledged survives a power failure. Errors: {@link storageError}. */
export function configureSqlite(handle: SqliteHandle): void {
  try {
    for (const pragma of [
      'busy_timeout = 5000',
      'journal_mode = WAL',
      'synchronous = FULL',
      'foreign_keys = ON',
      'trusted_schema = OFF',
      'temp_store = MEMORY',
      'cache_size = -16384',
      'journal_size_limit = 67108864',
    ]) {
      handle.exec(`PRAGMA ${pragma}`)
    }
  } catch (error) {
    throw storageError(error)
  }
}

/**
 * A database over an open handle that {@link configureSqlite} and `migrate` have seen; the handle belongs to it from
 * then on. Errors of writes and reads: those of {@link storageError}, `database_closed`, and what a work throws.
 */
export function createSqlDatabase(handle: SqliteHandle, options: SqlDatabaseOptions): SqlDatabase {
  return new GroupCommitDatabase(handle, options)
}

class GroupCommitDatabase implements SqlDatabase {
  readonly read: Db
  readonly #handle: SqliteHandle
  readonly #statements: Statements
  readonly #options: SqlDatabaseOptions
  #queue: Job[] = []
  /** Writes that may wait, all of them before those in the queue. */
  #patient: Job[] = []
  #timed = false
  #scheduled = false
  #damage: AnetError | undefined
  #closing: Promise<void> | undefined
  #closed = false
  #idle: (() => void)[] = []

  constructor(handle: SqliteHandle, options: SqlDatabaseOptions) {
    this.#handle = handle
    this.#options = options
    this.#statements = new Statements(handle)
    this.read = {
      get: <R>(sql: string, ...values: SqlValue[]) => this.get<R>(sql, values),
      all: <R>(sql: string, ...values: SqlValue[]) => this.all<R>(sql, values),
    }
  }

  get<R>(sql: string, values: SqlValue[]): R | undefined {
    try {
      return this.#statements.get(sql).get(...values) as R | undefined
    } catch (error) {
      throw this.#named(error)
    }
  }

  all<R>(sql: string, values: SqlValue[]): R[] {
    try {
      return this.#statements.get(sql).all(...values) as R[]
    } catch (error) {
      throw this.#named(error)
    }
  }

  run(sql: string, values: SqlValue[]): { changes: number; lastInsertRowid: number } {
    try {
      const { changes, lastInsertRowid } = this.#statements.get(sql).run(...values)
      return { changes: Number(changes), lastInsertRowid: Number(lastInsertRowid) }
    } catch (error) {
      throw this.#named(error)
    }
  }

  write<T>(work: (tx: Tx) => T, { mayWait = false }: WriteOptions = {}): Promise<T> {
    if (this.#closing !== undefined) return Promise.reject(databaseClosed())
    if (this.#damage !== undefined) return Promise.reject(this.#damage)
    return new Promise<T>((resolve, reject) => {
      const settle = resolve as (value: unknown) => void
      const job: Job = { work, resolve: settle, reject, result: undefined, failed: false }
      if (mayWait && !this.#scheduled && this.#wait(job)) return
      this.#queue.push(job)
      this.#schedule()
    })
  }

  #wait(job: Job): boolean {
    const { delay } = this.#options
    if (delay === undefined || this.#patient.length + 1 >= patientAtOnce) return false
    this.#patient.push(job)
    if (this.#timed) return true
    this.#timed = true
    delay(() => {
      this.#timed = false
      if (this.#patient.length > 0) this.#schedule()
    }, patience)
    return true
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    if (this.#patient.length > 0) this.#schedule()
    if (this.#scheduled) await new Promise<void>((resolve) => this.#idle.push(resolve))
    this.#closed = true
    this.#statements.clear()
    try {
      if (this.#damage === undefined) this.#handle.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch (error) {
      throw storageError(error)
    } finally {
      this.#handle.close()
    }
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    this.#options.schedule(() => this.#runBatch())
  }

  #runBatch(): void {
    let batch = [...this.#patient, ...this.#queue]
    this.#patient = []
    this.#queue = []
    if (batch.length > batchSize) {
      this.#queue = batch.slice(batchSize)
      batch = batch.slice(0, batchSize)
    }
    const announcements: (() => void)[] = []
    let failure: { readonly error: unknown } | undefined
    try {
      if (this.#damage !== undefined) throw this.#damage
      this.#commitTogether(batch, announcements)
    } catch (error) {
      failure = { error: this.#named(error) }
    }
    if (failure === undefined) for (const announce of announcements) this.#announce(announce)
    this.#scheduled = false
    if (this.#queue.length > 0) this.#schedule()
    for (const { failed, result, resolve, reject } of batch) {
      if (failed) reject(result)
      else if (failure !== undefined) reject(failure.error)
      else resolve(result)
    }
    if (this.#scheduled) return
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  /** Throws if nothing of the batch is on the disk. */
  #commitTogether(batch: readonly Job[], announcements: (() => void)[]): void {
    // a savepoint costs two statements, and alone there is nobody to protect
    const shared = batch.length > 1
    this.#control('BEGIN IMMEDIATE')
    try {
      for (const job of batch) {
        if (shared) this.#control('SAVEPOINT work')
        const before = announcements.length
        this.#attempt(job, announcements)
        if (!job.failed) {
          if (shared) this.#control('RELEASE work')
          continue
        }
        announcements.length = before
        if (isStorageFailure(job.result)) throw job.result
        this.#control(shared ? 'ROLLBACK TO work' : 'ROLLBACK')
        if (!shared) return
        this.#control('RELEASE work')
      }
      this.#control('COMMIT')
    } catch (error) {
      rollBack(this.#handle)
      throw error
    }
  }

  #attempt(job: Job, announcements: (() => void)[]): void {
    const tx = new Transaction(this, announcements)
    try {
      job.result = job.work(tx)
      if (job.result instanceof Promise) throw new TypeError('The work of a transaction is synchronous.')
    } catch (error) {
      job.failed = true
      job.result = error
    }
    tx.end()
  }

  #control(sql: string): void {
    this.#statements.get(sql).run()
  }

  #announce(announce: () => void): void {
    try {
      announce()
    } catch (error) {
      const told = this.#options.onCallbackError ?? ((unheard) => this.#options.schedule(() => rethrow(unheard)))
      told(error)
    }
  }

  #named(error: unknown): unknown {
    if (this.#closed) return databaseClosed()
    const named = storageError(error)
    if (this.#damage === undefined && isAnetError(named, 'database_damaged')) {
      this.#damage = named
      this.#options.onFatal?.(named)
    }
    return named
  }
}

/** After one of these SQLite may have rolled the whole transaction back, the works before it included. */
function isStorageFailure(error: unknown): boolean {
  return isAnetError(
    error,
    'disk_full',
    'database_read_only',
    'database_damaged',
    'database_busy',
    'database_io_error',
    'database_cannot_open',
  )
}

function databaseClosed(): AnetError {
  return new AnetError('database_closed', 'The database has been closed: this node is stopping.')
}

function rethrow(error: unknown): never {
  throw error
}
