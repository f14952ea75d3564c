/** Calls at once, and then at most once per interval with the newest value: for snapshots, where only the last counts. */
export class Coalesced<T> {
  readonly #intervalMs: number
  readonly #emit: (value: T) => void
  #timer: NodeJS.Timeout | undefined
  #held: { readonly value: T } | undefined

  constructor(intervalMs: number, emit: (value: T) => void) {
    this.#intervalMs = intervalMs
    this.#emit = emit
  }

  push(value: T): void {
    if (this.#timer !== undefined) {
      this.#held = { value }
      return
    }
    this.#emit(value)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      const held = this.#held
      this.#held = undefined
      if (held !== undefined) this.push(held.value)
    }, this.#intervalMs)
  }

  /** Forgets what is held: something final has replaced it. */
  drop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#held = undefined
  }
}
