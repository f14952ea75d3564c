import type { SqlValue, Tx } from './types.ts'

/** What a transaction needs of the database it runs in. */
export interface TransactionTarget {
  get<R>(sql: string, values: SqlValue[]): R | undefined
  all<R>(sql: string, values: SqlValue[]): R[]
  run(sql: string, values: SqlValue[]): { changes: number; lastInsertRowid: number }
}

/** Lives as long as its work: used afterwards it would write into somebody else's transaction, so it refuses. */
export class Transaction implements Tx {
  #target: TransactionTarget | undefined
  readonly #announcements: (() => void)[]

  constructor(target: TransactionTarget, announcements: (() => void)[]) {
    this.#target = target
    this.#announcements = announcements
  }

  get<R>(sql: string, ...values: SqlValue[]): R | undefined {
    return this.#open().get<R>(sql, values)
  }

  all<R>(sql: string, ...values: SqlValue[]): R[] {
    return this.#open().all<R>(sql, values)
  }

  run(sql: string, ...values: SqlValue[]): { changes: number; lastInsertRowid: number } {
    return this.#open().run(sql, values)
  }

  afterCommit(announce: () => void): void {
    this.#open()
    this.#announcements.push(announce)
  }

  end(): void {
    this.#target = undefined
  }

  #open(): TransactionTarget {
    if (this.#target === undefined) throw new TypeError('This transaction has ended.')
    return this.#target
  }
}
