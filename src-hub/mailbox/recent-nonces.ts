import { encodeBase64Url, limits } from '@shared/wire/index.ts'
import type { HubClock } from '../options.ts'
import type { Nonce } from '../store/index.ts'

/** Nothing is forgotten before a request could not be accepted any more, whichever way its sender's clock was wrong. */
const keptFor = 2 * limits.request.skew

interface Generation {
  readonly nonces: Set<string>
  newest: number
}

/**
 * The nonces of requests that leave nothing behind, in memory only: writing one down would cost a sync of the disk for
 * each preview. Requests from before this process began, and from a time that is forgotten, count as used.
 */
export class RecentNonces {
  readonly #elapsed: () => number
  #floor: number
  #current: Generation = empty()
  #before: Generation = empty()
  #turnedAt: number

  /** `elapsed`: milliseconds that no jump of the clock disturbs. */
  constructor(clock: HubClock, elapsed: () => number = () => performance.now()) {
    this.#elapsed = elapsed
    this.#floor = clock.now() - 1
    this.#turnedAt = elapsed()
  }

  /** True the first time. */
  use({ time, nonce }: Nonce): boolean {
    this.#turn()
    const name = `${time} ${encodeBase64Url(nonce)}`
    if (time <= this.#floor || this.#current.nonces.has(name) || this.#before.nonces.has(name)) return false
    this.#current.nonces.add(name)
    this.#current.newest = Math.max(this.#current.newest, time)
    return true
  }

  #turn(): void {
    const now = this.#elapsed()
    if (now - this.#turnedAt < keptFor) return
    this.#turnedAt = now
    this.#floor = Math.max(this.#floor, this.#before.newest)
    this.#before = this.#current
    this.#current = empty()
  }
}

function empty(): Generation {
  return { nonces: new Set(), newest: 0 }
}
