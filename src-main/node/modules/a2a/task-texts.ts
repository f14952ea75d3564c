import { type Tasks, type TaskSummary, taskWithBytes } from '../../tasks/index.ts'
import { taskNotFound } from './errors.ts'

const cacheBytes = 16 * 1024 * 1024
const largestEntry = 256 * 1024

interface Cached {
  readonly stamp: string
  readonly text: string
}

/**
 * Tasks as JSON texts. A client that waits for a task reads it over and over: the text of each state is made once and kept,
 * the least recently used texts go first.
 */
export class TaskTexts {
  readonly #tasks: Tasks
  readonly #texts = new Map<string, Cached>()
  #bytes = 0

  constructor(tasks: Tasks) {
    this.#tasks = tasks
  }

  /** The whole task with the content of its files, but without the client's own uploads. `historyLength`: see {@link TaskForm}. */
  of(summary: TaskSummary, historyLength: number | undefined): string | Promise<string> {
    const id = historyLength === undefined ? summary.key.id : `${summary.key.id}/${historyLength}`
    const stamp = stampOf(summary)
    const cached = this.#texts.get(id)
    if (cached?.stamp === stamp) {
      this.#texts.delete(id)
      this.#texts.set(id, cached)
      return cached.text
    }
    return this.#make(summary, id, historyLength)
  }

  async #make(summary: TaskSummary, id: string, historyLength: number | undefined): Promise<string> {
    const record = this.#tasks.get(summary.key)
    if (record === undefined) throw taskNotFound()
    const text = JSON.stringify(await taskWithBytes(record, (part) => this.#tasks.materialise(part), { historyLength }))
    this.#keep(id, { stamp: stampOf(record), text })
    return text
  }

  #keep(id: string, entry: Cached): void {
    this.#forget(id)
    if (entry.text.length > largestEntry) return
    this.#texts.set(id, entry)
    this.#bytes += entry.text.length
    for (const oldest of this.#texts.keys()) {
      if (this.#bytes <= cacheBytes) break
      this.#forget(oldest)
    }
  }

  #forget(id: string): void {
    this.#bytes -= this.#texts.get(id)?.text.length ?? 0
    this.#texts.delete(id)
  }
}

/** Everything of a task that may change without a new entry is in the stamp beside the number of the newest entry. */
function stampOf(task: TaskSummary): string {
  return `${task.stateSeq}:${task.state}:${task.receipt}:${task.effectStatus ?? ''}:${task.reason ?? ''}`
}
