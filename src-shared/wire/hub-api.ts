import { z } from 'zod'
import { aidSchema } from './cid.ts'
import { bytesSchema, signedSchema } from './signed.ts'
import { limits } from './limits.ts'

/**
 * The hub's HTTP API, version 1. Every body and answer is DAG-CBOR (`application/vnd.ipld.dag-cbor`); every request
 * but `info` carries {@link authHeader}. An error answers with its HTTP status and a {@link hubErrorSchema} body.
 */
export const hubMediaType = 'application/vnd.ipld.dag-cbor'
/** base64url of the encoded `hub-request` statement. */
export const authHeader = 'anet-request'

export const hubPaths = {
  info: '/hub/v1/info', // GET
  join: '/hub/v1/join', // POST
  publish: '/hub/v1/publish', // POST
  search: '/hub/v1/directory/search', // POST
  lookup: '/hub/v1/lookup', // POST
  send: '/hub/v1/send', // POST, body: an encoded envelope
  mailbox: '/hub/v1/mailbox', // WebSocket
  poll: '/hub/v1/mailbox/poll', // POST, long poll
  acknowledge: '/hub/v1/mailbox/ack', // POST
} as const

/** What a hub request signs. `path` includes the query; `body` is the SHA-256 of the request body. */
export const hubRequestSchema = z.object({
  hub: aidSchema,
  aid: aidSchema,
  ksn: z.int().min(0),
  time: z.int().min(0),
  nonce: bytesSchema.refine((nonce) => nonce.byteLength === limits.request.nonceBytes, 'must have 16 bytes'),
  method: z.string().max(16),
  path: z.string().max(2048),
  body: bytesSchema.refine((hash) => hash.byteLength === 32, 'must have 32 bytes'),
})
export type HubRequest = z.infer<typeof hubRequestSchema>

const historySchema = z.array(signedSchema).min(1).max(limits.history.statements)

export const hubInfoSchema = z.object({
  versions: z.array(z.int()),
  aid: aidSchema,
  name: z.string().max(256),
  history: historySchema,
  policy: z.enum(['open', 'invite', 'admit']),
  /** The hub's clock, milliseconds since 1970. */
  time: z.int(),
  limits: z.object({
    envelopeBytes: z.int(),
    mailboxMessages: z.int(),
    mailboxBytes: z.int(),
    ratePerSecond: z.int(),
    rateBurst: z.int(),
  }),
})
export type HubInfo = z.infer<typeof hubInfoSchema>

export const joinRequestSchema = z.object({
  history: historySchema,
  keyset: signedSchema,
  card: signedSchema.exactOptional(),
  invite: z.string().max(256).exactOptional(),
})
/** `member`: joined. `waiting`: the hub's operator has to admit this agent. */
export const joinAnswerSchema = z.object({ state: z.enum(['member', 'waiting']) })

/** Everything optional; what is given must be newer than what the hub has, or equal to it. */
export const publishRequestSchema = z.object({
  history: historySchema.exactOptional(),
  keyset: signedSchema.exactOptional(),
  card: signedSchema.exactOptional(),
  withdrawal: signedSchema.exactOptional(),
})

export const searchRequestSchema = z.object({
  skill: z.string().max(256).exactOptional(),
  tag: z.string().max(256).exactOptional(),
  q: z.string().max(512).exactOptional(),
  cursor: z.string().max(512).exactOptional(),
  limit: z.int().min(1).max(200).exactOptional(),
})
export type DirectoryQuery = z.infer<typeof searchRequestSchema>

/** The hub's word on an agent. The reader verifies history, key set and card itself, against the AID it expects. */
export const agentRecordSchema = z.object({
  aid: aidSchema,
  history: historySchema,
  keyset: signedSchema,
  card: signedSchema.exactOptional(),
  /** Instead of the card, once the agent took it back. */
  withdrawal: signedSchema.exactOptional(),
  lastSeen: z.int().min(0),
  /** Hub-signed head statement, once the hub issues them. */
  head: signedSchema.exactOptional(),
})
export type AgentRecord = z.infer<typeof agentRecordSchema>
export const searchAnswerSchema = z.object({
  agents: z.array(agentRecordSchema).max(200),
  cursor: z.string().exactOptional(),
})
export const lookupRequestSchema = z.object({ aid: aidSchema })
export const lookupAnswerSchema = agentRecordSchema

/** Query of `send`: `ephemeral=1` hands the envelope to a connected session or drops it (previews). */
export const sendAnswerSchema = z.object({ stored: z.boolean() })

export const pollRequestSchema = z.object({ waitMs: z.int().min(0).max(60_000), max: z.int().min(1).max(256) })
export const deliverySchema = z.object({ id: z.string().max(64), envelope: bytesSchema })
export type Delivery = z.infer<typeof deliverySchema>
export const pollAnswerSchema = z.object({ deliveries: z.array(deliverySchema) })
export const acknowledgeRequestSchema = z.object({ ids: z.array(z.string().max(64)).min(1).max(1024) })

/** Frames of the mailbox WebSocket, binary DAG-CBOR. Hub to node: */
export const mailboxFrameSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('deliver'), delivery: deliverySchema }),
  /** An unstored envelope; not acknowledged. */
  z.object({ type: z.literal('ephemeral'), envelope: bytesSchema }),
  /** A newer session of this AID took over: this one must not reconnect by itself. */
  z.object({ type: z.literal('superseded') }),
])
/** Close codes of the mailbox WebSocket, beside those of RFC 6455 (1001: the hub stops, come back). */
export const mailboxCloseCodes = {
  /** As the frame `superseded`, which is left out where it would fall into a delivery on its way. */
  superseded: 4001,
  /** The operator removed the agent. */
  removed: 4003,
} as const
/** Node to hub: */
export const mailboxReplySchema = z.object({ type: z.literal('ack'), ids: acknowledgeRequestSchema.shape.ids })

/** Codes that decide what the node does next; see {@link hubErrorSchema}. */
export const hubErrorCodes = [
  'not_member',
  'removed',
  'invite_required',
  'invite_invalid',
  'waiting_for_admission',
  'bad_request',
  'bad_signature',
  'stale_request',
  'replayed_request',
  'unknown_agent',
  'mailbox_full',
  'too_large',
  'rate_limited',
  'rollback',
  'fork',
  'not_found',
  /** A newer session or poll of this AID took over: answers a long poll that was waiting. */
  'superseded',
  'internal',
] as const
export const hubErrorSchema = z.object({
  error: z.object({ code: z.enum(hubErrorCodes), message: z.string().max(1024) }),
})
