import { z } from 'zod'
import { type JsonObject, jsonObjectSchema, jsonValueSchema } from './json-value.ts'

export { type JsonObject, jsonObjectSchema, jsonValueSchema } from './json-value.ts'

/**
 * A2A 1.0 objects in their wire form (ProtoJSON, camelCase), which is also the form the node works with. Unknown
 * fields are dropped, as ProtoJSON parsers do.
 */
export const taskStates = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
] as const
export const taskStateSchema = z.enum(taskStates)
export type TaskState = z.infer<typeof taskStateSchema>

const terminal: ReadonlySet<TaskState> = new Set([
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
])

/** Nothing follows a terminal state. */
export function isTerminal(state: TaskState): boolean {
  return terminal.has(state)
}

/** A blocking send returns at an interrupted state: somebody has to act. */
export function isInterrupted(state: TaskState): boolean {
  return state === 'TASK_STATE_INPUT_REQUIRED' || state === 'TASK_STATE_AUTH_REQUIRED'
}

const contentFields = ['text', 'raw', 'url', 'data'] as const

export const partSchema = z
  .object({
    text: z.string().exactOptional(),
    /** base64 */
    raw: z.base64().exactOptional(),
    url: z.string().exactOptional(),
    data: jsonValueSchema.exactOptional(),
    metadata: jsonObjectSchema.exactOptional(),
    filename: z.string().exactOptional(),
    mediaType: z.string().exactOptional(),
  })
  .refine((part) => contentFields.filter((field) => field in part).length === 1, {
    error: 'must have exactly one of text, raw, url, data',
  })
export type Part = z.infer<typeof partSchema>

export const roleSchema = z.enum(['ROLE_USER', 'ROLE_AGENT'])

export const messageSchema = z.object({
  messageId: z.string().min(1).max(1024),
  contextId: z.string().max(1024).exactOptional(),
  taskId: z.string().max(1024).exactOptional(),
  role: roleSchema,
  parts: z.array(partSchema).min(1).max(1024),
  metadata: jsonObjectSchema.exactOptional(),
  extensions: z.array(z.string()).exactOptional(),
  referenceTaskIds: z.array(z.string()).exactOptional(),
})
export type Message = z.infer<typeof messageSchema>

export const artifactSchema = z.object({
  artifactId: z.string().min(1).max(1024),
  name: z.string().exactOptional(),
  description: z.string().exactOptional(),
  parts: z.array(partSchema).max(1024),
  metadata: jsonObjectSchema.exactOptional(),
  extensions: z.array(z.string()).exactOptional(),
})
export type Artifact = z.infer<typeof artifactSchema>

export const taskStatusSchema = z.object({
  state: taskStateSchema,
  message: messageSchema.exactOptional(),
  /** UTC with milliseconds and Z. */
  timestamp: z.iso.datetime().exactOptional(),
})
export type TaskStatus = z.infer<typeof taskStatusSchema>

export const taskSchema = z.object({
  id: z.string().min(1),
  contextId: z.string(),
  status: taskStatusSchema,
  artifacts: z.array(artifactSchema).exactOptional(),
  history: z.array(messageSchema).exactOptional(),
  metadata: jsonObjectSchema.exactOptional(),
})
export type Task = z.infer<typeof taskSchema>

export interface TaskStatusUpdateEvent {
  readonly taskId: string
  readonly contextId: string
  readonly status: TaskStatus
  readonly metadata?: JsonObject
}

export interface TaskArtifactUpdateEvent {
  readonly taskId: string
  readonly contextId: string
  readonly artifact: Artifact
  readonly append?: boolean
  readonly lastChunk?: boolean
  readonly metadata?: JsonObject
}

/** Exactly one field; there is no `final` in A2A 1.0. */
export type StreamResponse =
  | { readonly task: Task }
  | { readonly message: Message }
  | { readonly statusUpdate: TaskStatusUpdateEvent }
  | { readonly artifactUpdate: TaskArtifactUpdateEvent }

/** Metadata keys of ANet on tasks (seed, Metadata). */
export const anetKeys = {
  effectStatus: 'anet.effect_status',
  receiptVerified: 'anet.receipt_verified',
  reason: 'anet.reason',
  stateSeq: 'anet.state_seq',
  file: 'anet.file',
  skill: 'anet.skill',
  peerAid: 'anet.peer_aid',
  trusted: 'anet.trusted',
  official: 'anet.official',
} as const

export type EffectStatus = 'OK' | 'UNVERIFIED' | 'FAILED' | 'UNAVAILABLE' | 'PAYMENT_REQUIRED'
export type ReceiptStatus = 'verified' | 'unverified' | 'unknown'
