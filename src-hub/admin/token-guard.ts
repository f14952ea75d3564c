import { createHash, timingSafeEqual } from 'node:crypto'

const maxWaitMs = 10_000
const firstWaitMs = 1000

/**
 * Compares a token with the right one. After a wrong one, further wrong ones are turned away for 1 s, doubling to 10 s;
 * the right one always passes, so that nobody can lock the operator out.
 */
export class TokenGuard {
  readonly #digest: Buffer
  #wait = 0
  #until = 0

  constructor(token: string) {
    this.#digest = digestOf(token)
  }

  /** `retryAfter` in whole seconds, 1 to 10. Time from a clock that only goes forward. */
  check(given: string | undefined): 'right' | 'wrong' | { readonly retryAfter: number } {
    if (given !== undefined && timingSafeEqual(digestOf(given), this.#digest)) {
      this.#wait = 0
      this.#until = 0
      return 'right'
    }
    const now = performance.now()
    if (now < this.#until) return { retryAfter: Math.min(10, Math.max(1, Math.ceil((this.#until - now) / 1000))) }
    const isLongAgo = now - this.#until > 6 * maxWaitMs
    this.#wait = isLongAgo || this.#wait === 0 ? firstWaitMs : Math.min(maxWaitMs, this.#wait * 2)
    this.#until = now + this.#wait
    return 'wrong'
  }
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
