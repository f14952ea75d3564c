import type { Network, TaskKey } from '../../network/index.ts'
import { type Clock, type Log, Topic, type Unsubscribe } from '../../ports.ts'
import type { Store, Tx } from '../../store/index.ts'
import { appendEntry, assemble, type Assembled, extend, type NewEntry, readEntries } from './entries.ts'
import { findTask, summaryOf, type TaskChange, type TaskRow } from './rows.ts'
import type { TaskEntry, TaskPreview, TaskRecord, TaskSummary, TaskUpdate } from '../types.ts'

export interface BookOptions {
  readonly store: Store
  readonly network: Pick<Network, 'unconfirmed'>
  readonly clock: Clock
  readonly log: Log
}

export interface TaskListener {
  onUpdate(update: TaskUpdate): void
  onPreview?(preview: TaskPreview): void
}

interface Cached {
  readonly row: TaskRow
  readonly assembled: Assembled
}

/** Assembled tasks kept: reading one again decrypts nothing. */
const keptRecords = 2000

function nameOf(key: TaskKey): string {
  return `${key.requester}/${key.id}`
}

/**
 * The tasks as they are written down: reads them, appends to them, and tells who listens, after the commit and in the
 * order of the entries.
 */
export class TaskBook {
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
  readonly #network: Pick<Network, 'unconfirmed'>
  readonly #records = new Map<string, Cached>()
  readonly #listeners = new Map<string, Set<TaskListener>>()
  readonly #changes: Topic<TaskUpdate>
  readonly #previews: Topic<TaskPreview>

  constructor({ store, network, clock, log }: BookOptions) {
    this.store = store
    this.clock = clock
    this.log = log
    this.#network = network
    const onError = (error: unknown): void => log.error({ err: error }, 'a listener of the task layer failed')
    this.#changes = new Topic(onError)
    this.#previews = new Topic(onError)
  }

  row(key: TaskKey): TaskRow | undefined {
    return this.#records.get(nameOf(key))?.row ?? findTask(this.store.read, key)
  }

  summarise(row: TaskRow): TaskSummary {
    const { oldest } = this.#network.unconfirmed({ requester: row.requester, id: row.task })
    return summaryOf(this.store.content, row, oldest, this.clock.now())
  }

  summary(key: TaskKey): TaskSummary | undefined {
    const row = this.row(key)
    return row === undefined ? undefined : this.summarise(row)
  }

  record(key: TaskKey): TaskRecord | undefined {
    const cached = this.#cached(key)
    return cached === undefined ? undefined : { ...this.summarise(cached.row), ...cached.assembled }
  }

  entries(key: TaskKey, afterSeq?: number): readonly TaskEntry[] {
    const row = this.row(key)
    return row === undefined ? [] : readEntries(this.store.read, this.store.content, row, afterSeq)
  }

  /** Appends inside a transaction; listeners hear of it after the commit. */
  append(tx: Tx, before: TaskRow, entry: NewEntry, change: TaskChange = {}): TaskRow {
    const appended = appendEntry(tx, this.store.content, before, entry, change)
    tx.afterCommit(() => this.#announce(appended.task, appended.entry))
    return appended.task
  }

  /** Snapshot and subscription in one synchronous step: nothing can fall between the two. */
  subscribe(key: TaskKey, listener: TaskListener): { task: TaskRecord; close: Unsubscribe } | undefined {
    const task = this.record(key)
    if (task === undefined) return undefined
    const name = nameOf(key)
    const listeners = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, listeners)
    listeners.add(listener)
    const close = (): void => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(name) === listeners) this.#listeners.delete(name)
    }
    return { task, close }
  }

  onChange(listener: (update: TaskUpdate) => void): Unsubscribe {
    return this.#changes.subscribe(listener)
  }

  onPreview(listener: (preview: TaskPreview) => void): Unsubscribe {
    return this.#previews.subscribe(listener)
  }

  preview(preview: TaskPreview): void {
    for (const listener of this.#listeners.get(nameOf(preview.key)) ?? [])
      this.#tell(() => listener.onPreview?.(preview))
    this.#previews.publish(preview)
  }

  #cached(key: TaskKey): Cached | undefined {
    const name = nameOf(key)
    const known = this.#records.get(name)
    if (known !== undefined) {
      // the newest use is last
      this.#records.delete(name)
      this.#records.set(name, known)
      return known
    }
    const row = findTask(this.store.read, key)
    if (row === undefined) return undefined
    const cached = { row, assembled: assemble(row, readEntries(this.store.read, this.store.content, row)) }
    this.#records.set(name, cached)
    const oldest = this.#records.keys().next()
    if (this.#records.size > keptRecords && oldest.done !== true) this.#records.delete(oldest.value)
    return cached
  }

  #announce(row: TaskRow, entry: TaskEntry): void {
    const key = { requester: row.requester, id: row.task }
    const name = nameOf(key)
    const known = this.#records.get(name)
    if (known !== undefined) {
      const next = known.row.state_seq === row.state_seq - 1
      if (next) this.#records.set(name, { row, assembled: withState(extend(known.assembled, entry), row) })
      else this.#records.delete(name)
    }
    const listeners = this.#listeners.get(name)
    if (listeners === undefined && this.#changes.size === 0) return
    const update = { task: this.summarise(row), entry }
    for (const listener of listeners ?? []) this.#tell(() => listener.onUpdate(update))
    this.#changes.publish(update)
  }

  #tell(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.log.error({ err: error }, 'a listener of a task failed')
    }
  }
}

function withState(assembled: Assembled, row: TaskRow): Assembled {
  return {
    ...assembled,
    status: { ...assembled.status, state: row.state, timestamp: new Date(row.status_at).toISOString() },
  }
}
