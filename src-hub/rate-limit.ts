import { HubError } from './errors.ts'
import type { HubClock } from './options.ts'

interface Bucket {
  tokens: number
  at: number
}

/** Token buckets by name (an AID or an address). Errors: `rate_limited` with the seconds after which to try again. */
export class RateLimit {
  readonly #perSecond: number
  readonly #burst: number
  readonly #clock: HubClock
  readonly #buckets = new Map<string, Bucket>()

  constructor(perSecond: number, burst: number, clock: HubClock) {
    this.#perSecond = perSecond
    this.#burst = burst
    this.#clock = clock
  }

  take(name: string): void {
    const now = this.#clock.now()
    let bucket = this.#buckets.get(name)
    if (bucket === undefined) this.#buckets.set(name, (bucket = { tokens: this.#burst, at: now }))
    bucket.tokens = this.#filled(bucket, now)
    bucket.at = now
    if (bucket.tokens < 1) {
      const wait = Math.ceil((1 - bucket.tokens) / this.#perSecond)
      throw new HubError('rate_limited', `Too many requests: at most ${this.#perSecond} a second.`, {
        retryAfter: Math.max(1, wait),
      })
    }
    bucket.tokens -= 1
  }

  /** Forgets the buckets that are full again. */
  prune(): void {
    const now = this.#clock.now()
    for (const [name, bucket] of this.#buckets) {
      if (this.#filled(bucket, now) >= this.#burst) this.#buckets.delete(name)
    }
  }

  #filled(bucket: Bucket, now: number): number {
    // a clock that went back gives nothing
    return Math.min(this.#burst, bucket.tokens + (Math.max(0, now - bucket.at) / 1000) * this.#perSecond)
  }
}
