import { limits as wireLimits } from '@shared/wire/index.ts'
import type { RateLimits } from './http/app.ts'
import type { HubParts } from './parts.ts'

/** Deletes what is past its time, once at the start and then every `limits.sweepEvery`. */
export class Sweeper {
  readonly #parts: HubParts
  readonly #rates: RateLimits
  readonly #timer: NodeJS.Timeout
  #running: Promise<void>

  constructor(parts: HubParts, rates: RateLimits) {
    this.#parts = parts
    this.#rates = rates
    this.#running = this.#sweep()
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
