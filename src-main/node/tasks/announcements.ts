import type { TaskKey } from '../network/index.ts'
import { type Log, Topic, type Unsubscribe } from '../ports.ts'
import { nameOf } from './records.ts'
import type { TaskPreview, TaskUpdate } from './types.ts'

export interface TaskListener {
  onUpdate(update: TaskUpdate): void
  onPreview?(preview: TaskPreview): void
}

/**
 * Tells those who listen to one task, and those who listen to all, what was committed: in order of the commits, the
 * same to everybody. A listener that fails is logged and disturbs no other.
 */
export class Announcements {
  readonly #log: Log
  readonly #byTask = new Map<string, Set<TaskListener>>()
  readonly #updates: Topic<TaskUpdate>
  readonly #previews: Topic<TaskPreview>

  constructor(log: Log) {
    this.#log = log
    const failed = (error: unknown): void => this.#failed(error)
    this.#updates = new Topic(failed)
    this.#previews = new Topic(failed)
  }

  /** Number of listeners to single tasks. */
  get size(): number {
    let sum = 0
    for (const listeners of this.#byTask.values()) sum += listeners.size
    return sum
  }

  /** Listens to one task from now on. Nothing is left of it after the returned function was called. */
  listen(key: TaskKey, listener: TaskListener): Unsubscribe {
    const name = nameOf(key)
    let listeners = this.#byTask.get(name)
    if (listeners === undefined) {
      listeners = new Set()
      this.#byTask.set(name, listeners)
    }
    const mine = listeners
    // one listener may be handed in twice: each listening is of its own
    const own = { onUpdate: listener.onUpdate.bind(listener), ...previewOf(listener) }
    mine.add(own)
    return () => {
      mine.delete(own)
      if (mine.size === 0 && this.#byTask.get(name) === mine) this.#byTask.delete(name)
    }
  }

  onChange(listener: (update: TaskUpdate) => void): Unsubscribe {
    return this.#updates.subscribe(listener)
  }

  onPreview(listener: (preview: TaskPreview) => void): Unsubscribe {
    return this.#previews.subscribe(listener)
  }

  updated(update: TaskUpdate): void {
    this.#each(update.task.key, (listener) => listener.onUpdate(update))
    this.#updates.publish(update)
  }

  previewed(preview: TaskPreview): void {
    this.#each(preview.key, (listener) => listener.onPreview?.(preview))
    this.#previews.publish(preview)
  }

  #each(key: TaskKey, tell: (listener: TaskListener) => void): void {
    const listeners = this.#byTask.get(nameOf(key))
    if (listeners === undefined) return
    // a copy: whoever begins to listen while this is announced has it in the snapshot already
    const audience = Array.from(listeners)
    for (const listener of audience) {
      if (!listeners.has(listener)) continue
      try {
        tell(listener)
      } catch (error) {
        this.#failed(error)
      }
    }
  }

  #failed(error: unknown): void {
    this.#log.error({ err: error }, 'a listener of tasks failed')
  }
}

function previewOf({ onPreview }: TaskListener): Pick<TaskListener, 'onPreview'> {
  return onPreview === undefined ? {} : { onPreview }
}
