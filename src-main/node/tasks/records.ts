import type { ReceiptStatus } from '@shared/a2a/index.ts'
import type { TaskKey } from '../network/index.ts'
import type { Store } from '../store/index.ts'
import { applyEntry, type Contents, noContents, weightOf } from './assemble.ts'
import { openTask } from './entry-content.ts'
import { readEntries } from './entries.ts'
import { findRow, placeOfTask, type TaskRow } from './task-rows.ts'
import type { TaskEntry, TaskRecord, TaskSummary } from './types.ts'

/** Assembled tasks in memory, and the characters that they may hold together and alone. */
const cachedRecords = 4096
const cachedWeight = 64 * 1024 * 1024
const largestRecord = 16 * 1024 * 1024
const cachedTitles = 20_000

interface Assembled {
  readonly row: TaskRow
  readonly contents: Contents
  readonly weight: number
  readonly summary: TaskSummary
  readonly record: TaskRecord
}

export interface RecordsParts {
  readonly store: Store
  /** True while the peer has left something of this task unconfirmed for too long. */
  readonly unconfirmed: (key: TaskKey) => boolean
}

/**
 * Tasks put together from their rows and entries. What was read or written lately stays in memory and follows every
 * entry, so that reading a task again costs neither a query nor opening a seal.
 */
export class Records {
  readonly #parts: RecordsParts
  /** Least recently used first. */
  readonly #assembled = new Map<string, Assembled>()
  readonly #titles = new Map<number, string>()
  /** Tasks that the running transaction writes to: for them only the database is right. */
  readonly #writing = new Set<string>()
  #weight = 0

  constructor(parts: RecordsParts) {
    this.#parts = parts
  }

  get(key: TaskKey): TaskRecord | undefined {
    return this.#remembered(key)?.record ?? this.#assemble(key)?.record
  }

  summary(key: TaskKey): TaskSummary | undefined {
    const remembered = this.#remembered(key)
    if (remembered !== undefined) return remembered.summary
    const row = findRow(this.#parts.store.read, key)
    return row === undefined ? undefined : this.summaryOf(row)
  }

  summaryOf(row: TaskRow): TaskSummary {
    const { unconfirmed } = this.#parts
    return {
      ...clearFields(row),
      title: this.titleOf(row),
      get unconfirmed() {
        return unconfirmed(row.key)
      },
    }
  }

  titleOf(row: Pick<TaskRow, 'id' | 'key' | 'sealed'>): string {
    const known = this.#titles.get(row.id)
    if (known !== undefined) return known
    const { title } = openTask(this.#parts.store.content, placeOfTask(row.key), row.sealed)
    this.#titles.set(row.id, title)
    if (this.#titles.size > cachedTitles) dropOldest(this.#titles)
    return title
  }

  /** To be called in the transaction that writes to a task, before {@link committed}. */
  writing(key: TaskKey): void {
    const name = nameOf(key)
    this.#writing.add(name)
    // a transaction runs without a pause: whether it was committed or undone, it is over by then
    queueMicrotask(() => this.#writing.delete(name))
  }

  /** Follows an entry after its commit; `row` is the task's row after it. */
  committed(row: TaskRow, entry: TaskEntry): TaskSummary {
    const name = nameOf(row.key)
    const before = this.#assembled.get(name)
    if (before === undefined && entry.seq > 1) return this.summaryOf(row)
    if (before !== undefined && before.row.stateSeq !== entry.seq - 1) {
      if (before.row.stateSeq < entry.seq) this.#forget(name)
      return this.summaryOf(row)
    }
    const contents = applyEntry(before?.contents ?? noContents, entry)
    const assembled = this.#make(row, contents, (before?.weight ?? 0) + weightOf(entry))
    this.#remember(name, assembled)
    return assembled.summary
  }

  #remembered(key: TaskKey): Assembled | undefined {
    const name = nameOf(key)
    const assembled = this.#assembled.get(name)
    if (assembled === undefined || this.#writing.has(name)) return undefined
    this.#assembled.delete(name)
    this.#assembled.set(name, assembled)
    return assembled
  }

  #assemble(key: TaskKey): Assembled | undefined {
    const { store } = this.#parts
    const row = findRow(store.read, key)
    if (row === undefined) return undefined
    let contents = noContents
    let weight = 0
    for (const entry of readEntries(store, row, 0)) {
      contents = applyEntry(contents, entry)
      weight += weightOf(entry)
    }
    const assembled = this.#make(row, contents, weight)
    const name = nameOf(key)
    if (!this.#writing.has(name)) this.#remember(name, assembled)
    return assembled
  }

  #make(row: TaskRow, contents: Contents, weight: number): Assembled {
    const { unconfirmed } = this.#parts
    const { statusMessage, history, artifacts } = contents
    const summary = this.summaryOf(row)
    const record: TaskRecord = {
      ...clearFields(row),
      title: summary.title,
      get unconfirmed() {
        return unconfirmed(row.key)
      },
      status: {
        state: row.state,
        timestamp: new Date(row.statusAt).toISOString(),
        ...(statusMessage === undefined ? {} : { message: statusMessage }),
      },
      history,
      artifacts,
    }
    return { row, contents, weight, summary, record }
  }

  #remember(name: string, assembled: Assembled): void {
    this.#forget(name)
    if (assembled.weight > largestRecord) return
    this.#assembled.set(name, assembled)
    this.#weight += assembled.weight
    while (this.#assembled.size > cachedRecords || this.#weight > cachedWeight) {
      const oldest = this.#assembled.keys().next().value
      if (oldest === undefined) return
      this.#forget(oldest)
    }
  }

  #forget(name: string): void {
    this.#weight -= this.#assembled.get(name)?.weight ?? 0
    this.#assembled.delete(name)
  }
}

/** A task's name in maps. */
export function nameOf(key: TaskKey): string {
  return `${key.requester}/${key.id}`
}

type ClearFields = Omit<TaskSummary, 'title' | 'unconfirmed'>

function clearFields(row: TaskRow): ClearFields {
  return {
    key: row.key,
    direction: row.direction,
    peer: row.peer,
    contextId: row.contextId,
    state: row.state,
    stateSeq: row.stateSeq,
    reason: row.reason,
    effectStatus: row.effectStatus,
    receipt: receiptOf(row),
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    statusAt: row.statusAt,
    cancelRequested: row.cancelRequested,
  }
}

/** A completion without a receipt is unverified; before one there is nothing to verify (spec/network.md, Receipts). */
function receiptOf({ state }: TaskRow): ReceiptStatus {
  return state === 'TASK_STATE_COMPLETED' ? 'unverified' : 'unknown'
}

function dropOldest(map: Map<number, string>): void {
  const oldest = map.keys().next().value
  if (oldest !== undefined) map.delete(oldest)
}
