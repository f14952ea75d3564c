import { isAnetError } from '@shared/errors.ts'
import type { hubErrorCodes } from '@shared/wire/index.ts'

export type HubErrorCode = (typeof hubErrorCodes)[number]

const statusOf: Record<HubErrorCode, number> = {
  not_member: 403,
  removed: 403,
  invite_required: 403,
  invite_invalid: 403,
  waiting_for_admission: 403,
  bad_request: 400,
  bad_signature: 401,
  stale_request: 401,
  replayed_request: 401,
  unknown_agent: 404,
  mailbox_full: 507,
  too_large: 413,
  rate_limited: 429,
  rollback: 409,
  fork: 409,
  not_found: 404,
  superseded: 409,
  internal: 500,
}

/** A refusal that reaches the client as `hubErrorSchema` with the status of its code. */
export class HubError extends Error {
  override readonly name = 'HubError'
  readonly code: HubErrorCode
  readonly status: number
  /** Whole seconds, sent as Retry-After. */
  readonly retryAfter: number | undefined

  constructor(code: HubErrorCode, message: string, options: { status?: number; retryAfter?: number } = {}) {
    super(message)
    this.code = code
    this.status = options.status ?? statusOf[code]
    this.retryAfter = options.retryAfter
  }
}

/**
 * What a client is told of an error. The decoders of src-shared throw AnetErrors: two of their codes have a meaning of
 * their own on the hub, the others say that the request is malformed. Anything else is `internal`, without its text.
 */
export function asHubError(error: unknown): HubError {
  if (error instanceof HubError) return error
  if (isAnetError(error, 'bad_signature', 'stale_request')) {
    return new HubError(error.code as 'bad_signature' | 'stale_request', error.message)
  }
  if (isAnetError(error, 'statement_bad_signature', 'statement_wrong_author')) {
    return new HubError('bad_signature', error.message)
  }
  if (isAnetError(error, 'statement_too_large', 'history_too_long')) return new HubError('too_large', error.message)
  if (isAnetError(error) && /^(statement|history|key_set|card|bad_base64url)/.test(error.code)) {
    return new HubError('bad_request', error.message.slice(0, 1000))
  }
  return new HubError('internal', 'Something failed inside the hub. Its operator finds the details in its log.')
}
