import { z } from 'zod'
import { taskStateSchema } from '../a2a/types.ts'
import { command, type ClientOf, type HandlersOf, query } from './contract.ts'
import {
  agentDetailView,
  agentView,
  checkView,
  endpointView,
  inboxItemView,
  joinStateView,
  nodeView,
  taskDetailView,
  taskSummaryView,
} from './views.ts'

const nothing = z.strictObject({})
const aid = z.string().regex(/^[a-z0-9]{1,128}$/)
const taskId = z.string().min(1).max(256)
const page = { cursor: z.string().max(512).optional(), limit: z.int().min(1).max(200).default(50) }
/** A file to send: read by the node, which runs as the operator. Absolute path. */
const filePath = z.string().min(1).max(4096)

export const nodeContract = {
  node: {
    status: query(nothing, nodeView),
    doctor: query(nothing, z.object({ checks: z.array(checkView) })),
    stop: command(
      z.strictObject({ force: z.boolean().default(false) }),
      z.object({ stopping: z.boolean(), inFlight: z.array(z.string()) }),
    ),
  },
  hub: {
    join: command(
      z.strictObject({ url: z.string().min(1).max(2048), aid: aid.optional(), invite: z.string().max(256).optional() }),
      joinStateView,
    ),
    /** Nothing is sent or fetched there any more; the hub keeps what it has until it expires. */
    leave: command(nothing, joinStateView),
  },
  agents: {
    list: query(
      z.strictObject({
        skill: z.string().max(256).optional(),
        tag: z.string().max(256).optional(),
        q: z.string().max(512).optional(),
        refresh: z.boolean().default(false),
        ...page,
      }),
      z.object({ agents: z.array(agentView), nextCursor: z.string() }),
    ),
    get: query(z.strictObject({ aid }), agentDetailView),
    setRelation: command(z.strictObject({ aid, relation: z.enum(['trust', 'allow', 'deny', 'none']) }), agentView),
  },
  tasks: {
    list: query(
      z.strictObject({
        direction: z.enum(['out', 'in']).optional(),
        agent: aid.optional(),
        state: z.union([taskStateSchema, z.literal('open')]).optional(),
        text: z.string().max(512).optional(),
        ...page,
      }),
      z.object({ tasks: z.array(taskSummaryView), nextCursor: z.string(), total: z.number() }),
    ),
    get: query(z.strictObject({ id: taskId, requester: aid.optional() }), taskDetailView),
    /** Opens a task, or with `taskId` answers or adds to one. */
    send: command(
      z.strictObject({
        agent: aid,
        text: z.string().min(1).max(1_000_000),
        files: z.array(filePath).max(64).default([]),
        taskId: taskId.optional(),
        contextId: z.string().max(1024).optional(),
        messageId: z.string().min(1).max(1024).optional(),
        skill: z.string().max(256).optional(),
        client: z.string().max(128).default('operator'),
      }),
      z.object({ task: taskSummaryView, repeated: z.boolean() }),
    ),
    cancel: command(z.strictObject({ id: taskId, requester: aid.optional() }), taskSummaryView),
    /** Resolves at a terminal or interrupted state or after `timeoutMs`. */
    wait: query(
      z.strictObject({ id: taskId, requester: aid.optional(), timeoutMs: z.int().min(0).max(600_000).default(60_000) }),
      taskSummaryView,
    ),
    /** Writes one part of an artifact or message to a new file; never over an existing one unless told to. */
    saveFile: command(
      z.strictObject({
        id: taskId,
        requester: aid.optional(),
        seq: z.int().min(0),
        part: z.int().min(0),
        path: filePath,
        overwrite: z.boolean().default(false),
      }),
      z.object({ path: z.string(), bytes: z.number() }),
    ),
  },
  inbox: {
    list: query(
      z.strictObject({ state: z.enum(['open', 'all']).default('open'), ...page }),
      z.object({ items: z.array(inboxItemView), nextCursor: z.string(), open: z.number() }),
    ),
    get: query(z.strictObject({ id: z.int() }), inboxItemView),
    answer: command(
      z.strictObject({
        id: z.int(),
        kind: z.enum(['complete', 'reply', 'ask', 'refuse']),
        text: z.string().max(1_000_000).default(''),
        files: z.array(filePath).max(64).default([]),
      }),
      taskSummaryView,
    ),
  },
  endpoint: {
    status: query(nothing, endpointView),
    /** Tries the recorded port again, after a conflict. */
    retry: command(nothing, endpointView),
  },
} as const
export type NodeContract = typeof nodeContract
export type NodeClient = ClientOf<NodeContract>
export type NodeHandlers = HandlersOf<NodeContract>

/**
 * What a node announces. Small slices are replaced whole and carry a revision that rises by one; task changes name the
 * task, and previews are best effort. A subscriber that misses a revision asks again.
 */
export const nodeEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('node'), revision: z.number(), value: nodeView }),
  z.object({ type: z.literal('task'), revision: z.number(), value: taskSummaryView }),
  z.object({ type: z.literal('preview'), taskId, requester: aid, artifact: z.unknown() }),
  z.object({ type: z.literal('agents'), revision: z.number() }),
  z.object({ type: z.literal('inbox'), revision: z.number(), open: z.number() }),
])
export type NodeEvent = z.infer<typeof nodeEventSchema>

/** What every door offers: calls and events. */
export interface NodeDoor {
  readonly client: NodeClient
  /** The first event is always the `node` slice as it is. */
  subscribe(listener: (event: NodeEvent) => void): () => void
}
