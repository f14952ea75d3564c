export type SqlValue = null | number | bigint | string | Uint8Array

/** Synchronous reads. Statements are prepared once per SQL text and kept. */
export interface Db {
  get<R>(sql: string, ...values: SqlValue[]): R | undefined
  all<R>(sql: string, ...values: SqlValue[]): R[]
}

/** Inside one transaction. Everything that must agree is written here, evidence and outbox included. */
export interface Tx extends Db {
  run(sql: string, ...values: SqlValue[]): { changes: number; lastInsertRowid: number }
  /** Runs after the commit is durable, in order of registration; never after a rollback. */
  afterCommit(announce: () => void): void
}

/** A floor's tables. Ids are unique for ever; SQL that ran once is never edited. */
export interface Migration {
  readonly id: string
  readonly sql: string
}

/** The part of `DatabaseSync` (node:sqlite, @photostructure/sqlite) that is used. */
export interface SqliteHandle {
  exec(sql: string): void
  prepare(sql: string): SqliteStatement
  close(): void
}
export interface SqliteStatement {
  get(...values: SqlValue[]): unknown
  all(...values: SqlValue[]): unknown[]
  run(...values: SqlValue[]): { changes: number | bigint; lastInsertRowid: number | bigint }
}

export interface WriteOptions {
  /**
   * Nobody waits for this write, and losing it costs nothing but doing something again: it shares the commit of the next
   * write that does not wait, or gets one of its own after some milliseconds.
   */
  readonly mayWait?: boolean
}

/** One SQLite file: reads at once, writes through a queue that shares commits. */
export interface SqlDatabase {
  readonly read: Db
  /**
   * Queues a transaction. Those that wait together share one commit (synchronous=FULL); each runs in a savepoint of
   * its own, so that one that throws undoes nothing of the others. `work` is synchronous. The promise settles when
   * the commit is on the disk; `afterCommit` callbacks have run by then.
   */
  write<T>(work: (tx: Tx) => T, options?: WriteOptions): Promise<T>
  /** Ends the queue, checkpoints and closes. Later writes are refused with `database_closed`. */
  close(): Promise<void>
}
