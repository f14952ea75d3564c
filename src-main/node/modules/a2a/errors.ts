import {
  a2aErrorDomain,
  type A2aErrorName,
  a2aErrorTable,
  anetKeys,
  type ErrorDetail,
  type FieldViolation,
  type StatusBody,
} from '@shared/a2a/index.ts'
import { AnetError } from '@shared/errors.ts'

/** An A2A or JSON-RPC error on its way to a client; each binding writes it in its own form. */
export class A2aFailure extends Error {
  override readonly name = 'A2aFailure'
  readonly error: A2aErrorName
  readonly details: readonly ErrorDetail[]

  constructor(
    error: A2aErrorName,
    message: string,
    options: { metadata?: Readonly<Record<string, string>>; violations?: readonly FieldViolation[] } = {},
  ) {
    super(message)
    this.error = error
    const info: ErrorDetail = {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: a2aErrorTable[error].reason,
      domain: a2aErrorDomain,
      ...(options.metadata === undefined ? {} : { metadata: options.metadata }),
    }
    this.details =
      options.violations === undefined
        ? [info]
        : [info, { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: options.violations }]
  }
}

export function invalidParams(violations: readonly FieldViolation[]): A2aFailure {
  const first = violations[0]
  const where = first === undefined || first.field === '' ? 'The parameters' : first.field
  return new A2aFailure('InvalidParamsError', `${where}: ${first?.description ?? 'not valid'}.`, { violations })
}

export function taskNotFound(): A2aFailure {
  return new A2aFailure('TaskNotFoundError', 'There is no such task of this agent.')
}

/** Errors of the task layer and the floors below it that a client can do something about; others are "unavailable". */
const known: Readonly<Record<string, { error: A2aErrorName; field?: string }>> = {
  task_not_found: { error: 'TaskNotFoundError' },
  task_terminal: { error: 'UnsupportedOperationError' },
  task_too_long: { error: 'UnsupportedOperationError' },
  task_not_cancelable: { error: 'TaskNotCancelableError' },
  context_mismatch: { error: 'InvalidParamsError', field: 'message.contextId' },
  part_url_refused: { error: 'InvalidParamsError', field: 'message.parts' },
  part_too_large: { error: 'InvalidParamsError', field: 'message.parts' },
  message_too_large: { error: 'InvalidParamsError', field: 'message' },
  content_too_deep: { error: 'InvalidParamsError', field: 'message.parts' },
  content_too_large: { error: 'InvalidParamsError', field: 'message' },
  bad_cursor: { error: 'InvalidParamsError', field: 'pageToken' },
}

/**
 * What a client is told about any error. An error of the node (AnetError) keeps its sentence and gives its code as
 * `anet.reason`; anything else becomes a plain internal error, because its text may quote content or paths.
 */
export function failureOf(error: unknown, onUnexpected: (error: unknown) => void): A2aFailure {
  if (error instanceof A2aFailure) return error
  if (!(error instanceof AnetError)) {
    onUnexpected(error)
    return new A2aFailure('InternalError', 'The node could not handle this request. Its log has the details.')
  }
  const message = error.remedy === undefined ? error.message : `${error.message} ${error.remedy}`
  const { error: name, field } = known[error.code] ?? { error: 'UnavailableError' as const }
  if (field !== undefined) {
    return new A2aFailure(name, message, { violations: [{ field, description: error.message }] })
  }
  return new A2aFailure(name, message, { metadata: { [anetKeys.reason]: error.code } })
}

/** The error as the HTTP+JSON binding writes it. */
export function statusBodyOf(failure: A2aFailure): { readonly http: number; readonly body: StatusBody } {
  const { http, status } = a2aErrorTable[failure.error]
  return { http, body: { error: { code: http, status, message: failure.message, details: failure.details } } }
}

/** The error as the JSON-RPC binding writes it: the member `error`, as JSON text. */
export function rpcErrorJson(failure: A2aFailure): string {
  return JSON.stringify({
    code: a2aErrorTable[failure.error].code,
    message: failure.message,
    data: failure.details,
  })
}
