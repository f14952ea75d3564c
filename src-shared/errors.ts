/**
 * Errors that reach a person or a program. `code` is stable and machine-readable, `message` says what is wrong,
 * `remedy` what to do. Nothing else of an error (stack, cause) leaves the process.
 */
export class AnetError extends Error {
  override readonly name = 'AnetError'
  readonly code: string
  readonly remedy: string | undefined
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(
    code: string,
    message: string,
    options: { remedy?: string; details?: Readonly<Record<string, unknown>>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.remedy = options.remedy
    this.details = options.details
  }
}

/** The form in which an error crosses a door (IPC, control plane, `--json`). */
export interface ErrorView {
  readonly code: string
  readonly message: string
  readonly remedy?: string
  readonly details?: Readonly<Record<string, unknown>>
}

/** An unexpected error becomes `internal`, without its text: that may quote content, paths or secrets. */
export function errorView(error: unknown): ErrorView {
  if (!(error instanceof AnetError)) {
    return {
      code: 'internal',
      message: 'Something failed inside ANet.',
      remedy: 'The node log has the details: see "anet doctor".',
    }
  }
  return {
    code: error.code,
    message: error.message,
    ...(error.remedy === undefined ? {} : { remedy: error.remedy }),
    ...(error.details === undefined ? {} : { details: error.details }),
  }
}

export function isAnetError(error: unknown, ...codes: readonly string[]): error is AnetError {
  return error instanceof AnetError && (codes.length === 0 || codes.includes(error.code))
}
