/**
 * How a call to a backend failed. `not_sent`: nothing was written. `unavailable`: the backend answered 503, it did not
 * take the message. `refused`: it answered with an error. `broken`: it may have taken the message and nobody knows what
 * came of it. The text never holds anything that the backend wrote.
 */
export class BackendError extends Error {
  override readonly name = 'BackendError'
  readonly kind: 'not_sent' | 'unavailable' | 'refused' | 'broken'

  constructor(kind: BackendError['kind'], message: string, options?: { cause: unknown }) {
    super(message, options)
    this.kind = kind
  }
}
