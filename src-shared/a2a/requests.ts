import { z } from 'zod'
import type { FieldViolation } from './errors.ts'
import { normaliseProtoJson, requestShapes, TooDeepError } from './proto-json.ts'
import { jsonObjectSchema, messageSchema, taskStateSchema } from './types.ts'

const id = z.string().min(1).max(1024)
const historyLength = z.int().min(0).max(2_147_483_647).exactOptional()
const tenant = z.string().max(1024).exactOptional()

/** Parameters of the operations of A2A 1.0. Unknown fields are dropped, as ProtoJSON asks. */
const sendMessageSchema = z.object({
  tenant,
  message: messageSchema,
  configuration: z
    .object({
      acceptedOutputModes: z.array(z.string().max(1024)).max(1024).exactOptional(),
      taskPushNotificationConfig: z.unknown().exactOptional(),
      historyLength,
      returnImmediately: z.boolean().exactOptional(),
    })
    .exactOptional(),
  metadata: jsonObjectSchema.exactOptional(),
})
export type SendMessageRequest = z.infer<typeof sendMessageSchema>

const getTaskSchema = z.object({ tenant, id, historyLength })
export type GetTaskRequest = z.infer<typeof getTaskSchema>

const listTasksSchema = z.object({
  tenant,
  contextId: z.string().max(1024).exactOptional(),
  /** Unspecified means any, as in the proto. */
  status: z.union([taskStateSchema, z.literal('TASK_STATE_UNSPECIFIED'), z.literal('')]).exactOptional(),
  pageSize: z.int().min(1).max(100).exactOptional(),
  pageToken: z.string().max(1024).exactOptional(),
  historyLength,
  /** RFC 3339, any offset. */
  statusTimestampAfter: z.iso.datetime({ offset: true }).exactOptional(),
  includeArtifacts: z.boolean().exactOptional(),
})
export type ListTasksRequest = z.infer<typeof listTasksSchema>

const cancelTaskSchema = z.object({ tenant, id, metadata: jsonObjectSchema.exactOptional() })
export type CancelTaskRequest = z.infer<typeof cancelTaskSchema>

const subscribeToTaskSchema = z.object({ tenant, id })
export type SubscribeToTaskRequest = z.infer<typeof subscribeToTaskSchema>

const schemas = {
  sendMessage: sendMessageSchema,
  getTask: getTaskSchema,
  listTasks: listTasksSchema,
  cancelTask: cancelTaskSchema,
  subscribeToTask: subscribeToTaskSchema,
} as const
export type RequestName = keyof typeof schemas
export type RequestOf<N extends RequestName> = z.infer<(typeof schemas)[N]>

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly violations: readonly FieldViolation[] }

/** Parses the parameters of an operation from ProtoJSON as a client sent it. Says which fields are wrong, at most 16. */
export function parseRequest<N extends RequestName>(name: N, input: unknown): Parsed<RequestOf<N>> {
  if (name === 'getTask' && isPlainGetTask(input)) return { ok: true, value: { id: input.id } as RequestOf<N> }
  try {
    const schema: z.ZodType<RequestOf<N>> = schemas[name] as unknown as z.ZodType<RequestOf<N>>
    const parsed = schema.safeParse(normaliseProtoJson(input, requestShapes[name]))
    return parsed.success ? { ok: true, value: parsed.data } : { ok: false, violations: violationsOf(parsed.error) }
  } catch (error) {
    if (error instanceof TooDeepError)
      return { ok: false, violations: [{ field: error.path, description: error.message }] }
    throw error
  }
}

/** The commonest of all requests, {id}, by itself: clients that wait send it over and over. */
function isPlainGetTask(input: unknown): input is { id: string } {
  if (typeof input !== 'object' || input === null || !('id' in input)) return false
  const { id } = input
  return typeof id === 'string' && id !== '' && id.length <= 1024 && Object.keys(input).length === 1
}

/** The issues of a schema as field violations: paths such as `message.parts[0].text`, never the value itself. */
function violationsOf(error: z.ZodError): readonly FieldViolation[] {
  return error.issues.slice(0, 16).map((issue) => ({ field: fieldPath(issue.path), description: issue.message }))
}

function fieldPath(path: readonly PropertyKey[]): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else text += text === '' ? String(step) : `.${String(step)}`
  }
  return text
}
