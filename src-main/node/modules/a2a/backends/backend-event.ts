import {
  type Artifact,
  artifactSchema,
  type JsonObject,
  type Message,
  messageSchema,
  type Part,
  type TaskState,
  taskStateSchema,
} from '@shared/a2a/index.ts'
import { z } from 'zod'
import { BackendError } from './backend-error.ts'

export interface BackendStatus {
  readonly state: TaskState
  readonly message: Message | undefined
}

/** What a backend says, checked and cleaned: no times, ids or claims of its own cross to the requester. */
export type BackendEvent =
  | {
      readonly kind: 'task'
      readonly id: string
      readonly contextId: string
      readonly status: BackendStatus
      readonly artifacts: readonly Artifact[]
    }
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'status'; readonly id: string; readonly contextId: string; readonly status: BackendStatus }
  | {
      readonly kind: 'artifact'
      readonly id: string
      readonly contextId: string
      readonly artifact: Artifact
      readonly append: boolean
      readonly lastChunk: boolean
    }

const statusSchema = z.object({ state: taskStateSchema, message: messageSchema.exactOptional() })
const ids = { taskId: z.string().default(''), contextId: z.string().default('') }
const eventSchema = z.union([
  z.object({
    task: z.object({
      id: z.string().min(1).max(1024),
      contextId: z.string().max(1024).default(''),
      status: statusSchema,
      artifacts: z.array(artifactSchema).default([]),
    }),
  }),
  z.object({ message: messageSchema }),
  z.object({ statusUpdate: z.object({ ...ids, status: statusSchema }) }),
  z.object({
    artifactUpdate: z.object({
      ...ids,
      artifact: artifactSchema,
      append: z.boolean().default(false),
      lastChunk: z.boolean().default(false),
    }),
  }),
])

/** Reads one StreamResponse in its wire form. Error: BackendError `broken`. */
export function readBackendEvent(json: unknown): BackendEvent {
  const parsed = eventSchema.safeParse(json)
  if (!parsed.success) {
    const where = parsed.error.issues[0]?.path.join('.') ?? ''
    throw new BackendError('broken', `The backend answered with something that is not A2A (${where}).`)
  }
  const event = parsed.data
  if ('message' in event) return { kind: 'message', message: cleanMessage(event.message) }
  if ('task' in event) {
    const { id, contextId, status, artifacts } = event.task
    return { kind: 'task', id, contextId, status: cleanStatus(status), artifacts: artifacts.map(cleanArtifact) }
  }
  if ('statusUpdate' in event) {
    const { taskId, contextId, status } = event.statusUpdate
    return { kind: 'status', id: taskId, contextId, status: cleanStatus(status) }
  }
  const { taskId, contextId, artifact, append, lastChunk } = event.artifactUpdate
  return { kind: 'artifact', id: taskId, contextId, artifact: cleanArtifact(artifact), append, lastChunk }
}

function cleanStatus(status: z.infer<typeof statusSchema>): BackendStatus {
  return { state: status.state, message: status.message === undefined ? undefined : cleanMessage(status.message) }
}

/** The backend's task and context ids mean nothing to the requester. */
function cleanMessage(message: Message): Message {
  return {
    messageId: message.messageId,
    role: 'ROLE_AGENT',
    parts: message.parts.map(cleanPart),
    ...cleanMetadata(message.metadata),
  }
}

function cleanArtifact(artifact: Artifact): Artifact {
  return {
    artifactId: artifact.artifactId,
    ...(artifact.name === undefined ? {} : { name: artifact.name }),
    ...(artifact.description === undefined ? {} : { description: artifact.description }),
    parts: artifact.parts.map(cleanPart),
    ...cleanMetadata(artifact.metadata),
  }
}

/** A link travels as text: the node fetches nothing, and the wire has no url parts. */
function cleanPart(part: Part): Part {
  const { url, metadata, ...rest } = part
  return { ...rest, ...(url === undefined ? {} : { text: url }), ...cleanMetadata(metadata) }
}

/** Keys of ANet and of payments are the node's to set. */
export function cleanMetadata(metadata: JsonObject | undefined): { metadata?: JsonObject } {
  const kept = Object.entries(metadata ?? {}).filter(([key]) => !/^(anet|x402)\./.test(key))
  return kept.length === 0 ? {} : { metadata: Object.fromEntries(kept) }
}
