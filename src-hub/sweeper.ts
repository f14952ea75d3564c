import { limits as wireLimits } from '@shared/wire/index.ts'
import type { RateLimits } from './http/app.ts'
import type { HubParts } from './parts.ts'

/** The clock jumped when it is further than this from where the time that passed would have it. */
const jump = 60_000

/**
 * Deletes what is past its time, every `limits.sweepEvery`. After a jump of the clock, and at the start, it waits for
 * one more round: a clock that is wrong for a moment must not cost anybody a message.
 */
export class Sweeper {
  readonly #parts: HubParts
  readonly #rates: RateLimits
  readonly #timer: NodeJS.Timeout
  #running: Promise<void> = Promise.resolve()
  /** What the clock showed when the last round began, less the time that had passed since the process began. */
  #offset: number | undefined

  constructor(parts: HubParts, rates: RateLimits) {
    this.#parts = parts
    this.#rates = rates
    this.#timer = setInterval(() => {
      this.#running = this.#running.then(() => this.#sweep())
    }, parts.limits.sweepEvery)
    this.#timer.unref()
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#running
  }

  async #sweep(): Promise<void> {
    const { store, clock, limits, log, shares, metrics } = this.#parts
    for (const rate of Object.values(this.#rates)) rate.prune()
    const now = clock.now()
    const offset = now - performance.now()
    const steady = this.#offset !== undefined && Math.abs(offset - this.#offset) < jump
    this.#offset = offset
    if (!steady) return
    try {
      const deleted = await store.sweep({
        mail: now - limits.keepFor,
        // one minute more than a request is accepted for
        nonces: now - wireLimits.request.skew - 60_000,
        invites: now,
      })
      shares.release(deleted)
      metrics.expired.add(deleted.length)
    } catch (error) {
      log.error({ err: error }, 'What is past its time could not be deleted')
    }
  }
}
