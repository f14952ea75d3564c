/**
 * Errors of A2A 1.0 and of JSON-RPC 2.0 in both bindings: the JSON-RPC code, the HTTP status and the `google.rpc.Code`
 * name (A2A 1.0, sections 5.4 and 11.6).
 */
export const a2aErrorTable = {
  TaskNotFoundError: { code: -32001, http: 404, status: 'NOT_FOUND', reason: 'TASK_NOT_FOUND' },
  TaskNotCancelableError: { code: -32002, http: 400, status: 'FAILED_PRECONDITION', reason: 'TASK_NOT_CANCELABLE' },
  PushNotificationNotSupportedError: {
    code: -32003,
    http: 400,
    status: 'FAILED_PRECONDITION',
    reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
  },
  UnsupportedOperationError: {
    code: -32004,
    http: 400,
    status: 'FAILED_PRECONDITION',
    reason: 'UNSUPPORTED_OPERATION',
  },
  ContentTypeNotSupportedError: {
    code: -32005,
    http: 400,
    status: 'INVALID_ARGUMENT',
    reason: 'CONTENT_TYPE_NOT_SUPPORTED',
  },
  InvalidAgentResponseError: { code: -32006, http: 500, status: 'INTERNAL', reason: 'INVALID_AGENT_RESPONSE' },
  ExtendedAgentCardNotConfiguredError: {
    code: -32007,
    http: 400,
    status: 'FAILED_PRECONDITION',
    reason: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
  },
  ExtensionSupportRequiredError: {
    code: -32008,
    http: 400,
    status: 'FAILED_PRECONDITION',
    reason: 'EXTENSION_SUPPORT_REQUIRED',
  },
  VersionNotSupportedError: { code: -32009, http: 400, status: 'FAILED_PRECONDITION', reason: 'VERSION_NOT_SUPPORTED' },
  ParseError: { code: -32700, http: 400, status: 'INVALID_ARGUMENT', reason: 'PARSE_ERROR' },
  InvalidRequestError: { code: -32600, http: 400, status: 'INVALID_ARGUMENT', reason: 'INVALID_REQUEST' },
  MethodNotFoundError: { code: -32601, http: 404, status: 'NOT_FOUND', reason: 'METHOD_NOT_FOUND' },
  InvalidParamsError: { code: -32602, http: 400, status: 'INVALID_ARGUMENT', reason: 'INVALID_PARAMS' },
  InternalError: { code: -32603, http: 500, status: 'INTERNAL', reason: 'INTERNAL' },
  UnavailableError: { code: -32603, http: 503, status: 'UNAVAILABLE', reason: 'UNAVAILABLE' },
} as const

export type A2aErrorName = keyof typeof a2aErrorTable

/** Domain of `google.rpc.ErrorInfo` on every A2A error. */
export const a2aErrorDomain = 'a2a-protocol.org'

export interface FieldViolation {
  /** Path from the root of the parameters: `message.parts[0].text`. */
  readonly field: string
  readonly description: string
}

export type ErrorDetail =
  | {
      readonly '@type': 'type.googleapis.com/google.rpc.ErrorInfo'
      readonly reason: string
      readonly domain: string
      readonly metadata?: Readonly<Record<string, string>>
    }
  | {
      readonly '@type': 'type.googleapis.com/google.rpc.BadRequest'
      readonly fieldViolations: readonly FieldViolation[]
    }

/** Body of every HTTP error: `google.rpc.Status` as ProtoJSON, in the envelope of A2A 1.0, section 11.6. */
export interface StatusBody {
  readonly error: {
    readonly code: number
    readonly status: string
    readonly message: string
    readonly details: readonly ErrorDetail[]
  }
}
