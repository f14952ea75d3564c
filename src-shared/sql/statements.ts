import type { SqliteHandle, SqliteStatement } from './types.ts'

/** Statements that are kept prepared; SQL texts beyond that are those built from lists of varying length. */
const generationSize = 256

/** Prepared statements by SQL text, in two generations: what is used stays, what is not used is dropped. */
export class Statements {
  readonly #handle: SqliteHandle
  #young = new Map<string, SqliteStatement>()
  #old = new Map<string, SqliteStatement>()

  constructor(handle: SqliteHandle) {
    this.#handle = handle
  }

  get(sql: string): SqliteStatement {
    const statement = this.#young.get(sql)
    return statement === undefined ? this.#fetch(sql) : statement
  }

  /** Number of statements that are kept. */
  get size(): number {
    return this.#young.size + this.#old.size
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
  }

  #fetch(sql: string): SqliteStatement {
    const statement = this.#old.get(sql) ?? this.#handle.prepare(sql)
    this.#old.delete(sql)
    if (this.#young.size >= generationSize) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(sql, statement)
    return statement
  }
}
