import { z } from 'zod'
import { AnetError } from '../errors.ts'
import {
  artifactSchema,
  jsonObjectSchema,
  messageSchema,
  partSchema,
  roleSchema,
  taskStateSchema,
} from '../a2a/types.ts'
import { jsonValueSchema } from '../a2a/json-value.ts'
import { decodeCbor, encodeCbor, isTooDeep, parseStatement, parseValue } from './cbor.ts'
import { aidSchema, cidSchema } from './cid.ts'
import { limits } from './limits.ts'
import { bytesSchema, signedSchema } from './signed.ts'
import { holdsTooManyValues } from './value-count.ts'

/** A file's content travels as bytes, not as base64. Otherwise a wire part is an A2A part. */
const wirePartSchema = z
  .object({
    text: z.string().exactOptional(),
    raw: bytesSchema.exactOptional(),
    data: jsonValueSchema.exactOptional(),
    metadata: jsonObjectSchema.exactOptional(),
    filename: z.string().exactOptional(),
    mediaType: z.string().exactOptional(),
  })
  .refine((part) => ['text', 'raw', 'data'].filter((field) => field in part).length === 1, {
    error: 'must have exactly one of text, raw, data',
  })
export type WirePart = z.infer<typeof wirePartSchema>

const wireMessageSchema = messageSchema
  .omit({ parts: true })
  .extend({ role: roleSchema, parts: z.array(wirePartSchema).min(1).max(1024) })
export type WireMessage = z.infer<typeof wireMessageSchema>
const wireArtifactSchema = artifactSchema.omit({ parts: true }).extend({ parts: z.array(wirePartSchema).max(1024) })
export type WireArtifact = z.infer<typeof wireArtifactSchema>

/** The bodies of the message types of spec/network.md. */
export const bodySchemas = {
  'task.open': z.object({
    contextId: z.string().min(1).max(1024),
    /** 32 random bytes of the requester: what ties receipts and payments to this task. */
    nonce: bytesSchema.refine((nonce) => nonce.byteLength === 32, 'must have 32 bytes'),
    message: wireMessageSchema,
  }),
  'task.message': z.object({ message: wireMessageSchema }),
  'task.cancel': z.object({ metadata: jsonObjectSchema.exactOptional() }),
  'task.status': z.object({
    state: taskStateSchema,
    at: z.int().min(0),
    message: wireMessageSchema.exactOptional(),
    /** `anet.reason`, where the state needs one. */
    reason: z.string().max(128).exactOptional(),
    effectStatus: z.enum(['OK', 'UNVERIFIED', 'FAILED', 'UNAVAILABLE', 'PAYMENT_REQUIRED']).exactOptional(),
    /** Whether the requester is on the provider's trust or allow list. */
    listed: z.boolean().exactOptional(),
    metadata: jsonObjectSchema.exactOptional(),
  }),
  'task.artifact': z.object({ artifact: wireArtifactSchema, append: z.boolean(), lastChunk: z.boolean() }),
  /** The whole reply so far. Not numbered, not kept. */
  'task.preview': z.object({ artifact: wireArtifactSchema }),
  /** Numbers of the sender's counterpart that are missing; empty: nothing but the `ack`. Not numbered. */
  wanted: z.object({ missing: z.array(z.int().min(0)).max(256) }),
  /** The provider does not take the task. Ends it as rejected. */
  refusal: z.object({
    reason: z.string().max(128),
    text: z.string().max(4096).exactOptional(),
    at: z.int().min(0),
    listed: z.boolean().exactOptional(),
  }),
  /** Carries nothing of its own: the news is the history that comes with every message. */
  identity: z.object({}),
} as const
export type MessageType = keyof typeof bodySchemas
export type Body<T extends MessageType> = z.infer<(typeof bodySchemas)[T]>
export const messageTypes = Object.keys(bodySchemas) as readonly MessageType[]

export function isMessageType(type: string): type is MessageType {
  return Object.hasOwn(bodySchemas, type)
}

/** Types that carry a task but no `n`: losing one loses nothing. */
export const unnumberedTypes: ReadonlySet<MessageType> = new Set(['task.preview', 'wanted', 'identity'])

/** What is signed and sealed (spec/network.md, Sealed delivery). Times in milliseconds since 1970. */
export const innerSchema = z.object({
  from: aidSchema,
  to: aidSchema,
  type: z.string().max(64),
  /** Task id; with the requester's AID it names the task. */
  task: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .exactOptional(),
  /** Who opened the task: `from` or `to`. */
  requester: aidSchema.exactOptional(),
  /** Number of this message among the sender's on this task, from 0. */
  n: z.int().min(0).exactOptional(),
  /** Highest `n` of the other side received without a gap, -1 for none. */
  ack: z.int().min(-1).exactOptional(),
  mid: bytesSchema.refine((mid) => mid.byteLength === limits.message.midBytes, 'must have 16 bytes'),
  ts: z.int().min(0),
  exp: z.int().min(0),
  body: z.unknown(),
  /** The sender's whole key history and newest key set: receiving needs no look-up. */
  history: z.array(signedSchema).min(1).max(limits.history.statements),
  keyset: signedSchema,
  /** Head of the sender's evidence chain, null while it is empty. */
  head: cidSchema.nullable(),
  /** Head of the recipient's key history as the sender holds it. */
  peerHead: cidSchema,
})
export type Inner = z.infer<typeof innerSchema>

/** Parses the body of a known type. An unknown type is `message_unknown_type`: permanent, so that it is not fetched for ever. */
export function parseBody<T extends MessageType>(type: T, body: unknown): Body<T>
export function parseBody(type: string, body: unknown): unknown {
  if (!isMessageType(type)) {
    throw new AnetError('message_unknown_type', `This node does not know messages of type "${type}".`)
  }
  return parseStatement(bodySchemas[type] as z.ZodObject, body)
}

/**
 * The bytes whose digest tells two bodies apart under one `mid`. A body that no decoder would take is refused: nested too
 * deep it is `content_too_deep`, with too many values `message_too_large`.
 */
export function encodeBody(type: MessageType, body: unknown): Uint8Array {
  const value = { type, body }
  if (isTooDeep(value)) throw new AnetError('content_too_deep', `Values are nested over ${limits.depth} deep.`)
  const bytes = encodeCbor(value)
  if (holdsTooManyValues(bytes, limits.message.values)) {
    throw new AnetError('message_too_large', `This message holds over ${limits.message.values} values.`, {
      remedy: 'Send data of this size as a file.',
    })
  }
  return bytes
}

/** Undoes {@link encodeBody}. Errors: `message_wrong_type`, and those of {@link parseBody} and the statement decoder. */
export function decodeBody<T extends MessageType>(type: T, bytes: Uint8Array): Body<T> {
  const value = parseValue(storedBodySchema, decodeCbor(bytes, limits.message.bytes))
  if (value.type !== type) {
    throw new AnetError('message_wrong_type', `A "${value.type}" body stands where "${type}" was expected.`)
  }
  return parseBody(type, value.body)
}
const storedBodySchema = z.object({ type: z.string().max(64), body: z.unknown() })

/** For callers that hold A2A parts: `url` parts have no wire form, the node fetches nothing for anybody. */
export const sendablePartSchema = partSchema.refine((part) => !('url' in part), {
  error: 'url parts are not sent: ANet fetches nothing for a client. Send the content as raw or text.',
})
