import type { HubLimits } from '../options.ts'

/**
 * What is on its way to one session and not acknowledged. A session that has enough of it gets nothing more until it
 * acknowledges, or until the oldest has been left for `leftAfter`: what the agent cannot take now must not hold up the
 * rest for ever. It comes again with the next session.
 */
export class DeliveryWindow {
  readonly #limits: Pick<HubLimits, 'windowMessages' | 'windowBytes' | 'leftAfter'>
  readonly #open = new Map<number, { readonly size: number; readonly at: number }>()
  #bytes = 0
  #waiting: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(limits: Pick<HubLimits, 'windowMessages' | 'windowBytes' | 'leftAfter'>) {
    this.#limits = limits
  }

  get hasRoom(): boolean {
    return !this.#full()
  }

  add(id: number, size: number): void {
    this.#open.set(id, { size, at: performance.now() })
    this.#bytes += size
  }

  release(ids: readonly number[]): void {
    for (const id of ids) this.#forget(id)
    if (!this.#full()) this.#proceed()
  }

  /** Settles when there is room, or when the window is closed. */
  room(): Promise<void> {
    if (this.#closed || !this.#full()) return Promise.resolve()
    return new Promise((resolve) => {
      this.#waiting = resolve
      this.#waitForOldest()
    })
  }

  close(): void {
    this.#closed = true
    this.#proceed()
  }

  #full(): boolean {
    return this.#open.size >= this.#limits.windowMessages || this.#bytes >= this.#limits.windowBytes
  }

  #waitForOldest(): void {
    const now = performance.now()
    for (const [id, { at }] of this.#open) {
      if (at + this.#limits.leftAfter > now) break
      this.#forget(id)
    }
    const oldest = this.#open.values().next().value
    if (oldest === undefined || !this.#full()) {
      this.#proceed()
      return
    }
    this.#timer = setTimeout(() => this.#waitForOldest(), oldest.at + this.#limits.leftAfter - now)
  }

  #forget(id: number): void {
    this.#bytes -= this.#open.get(id)?.size ?? 0
    this.#open.delete(id)
  }

  #proceed(): void {
    clearTimeout(this.#timer)
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.()
  }
}
