import type { Logger } from 'pino'

/** What the node needs of its surroundings. Node and Electron each hand in their own; tests hand in what they steer. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

export type Log = Logger

/** A way to be told. The returned function ends the subscription. */
export type Unsubscribe = () => void

/** Many listeners, one event; a listener that throws is logged by the caller and disturbs no other. */
export class Topic<T> {
  readonly #listeners = new Set<(event: T) => void>()
  readonly #onError: (error: unknown) => void

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  get size(): number {
    return this.#listeners.size
  }

  subscribe(listener: (event: T) => void): Unsubscribe {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  publish(event: T): void {
    for (const listener of this.#listeners) {
      try {
        listener(event)
      } catch (error) {
        this.#onError(error)
      }
    }
  }
}
