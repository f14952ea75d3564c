import { z } from 'zod'
import { artifactSchema, messageSchema, taskStateSchema, taskStatusSchema } from '../a2a/types.ts'
import { agentCardSchema } from '../a2a/card.ts'

/** What the doors show. Times are milliseconds since 1970. */

export const joinStateView = z.object({
  state: z.enum([
    'no_hub',
    'joining',
    'waiting_for_admission',
    'joined',
    'hub_unreachable',
    'refused',
    'removed',
    'running_elsewhere',
  ]),
  registered: z.boolean(),
  sentence: z.string(),
  hub: z.object({ url: z.string(), aid: z.string(), name: z.string() }).nullable(),
  since: z.number(),
})
export type JoinStateView = z.infer<typeof joinStateView>

export const portHolderView = z.object({
  pid: z.number().nullable(),
  command: z.string().nullable(),
  user: z.string().nullable(),
  /** Unknown counts as another user. */
  otherUser: z.boolean(),
  /** True if the holder is another instance of this node (same data directory). */
  thisNode: z.boolean(),
})

export const endpointView = z.object({
  state: z.enum(['up', 'starting', 'port_conflict', 'address_file_invalid', 'disabled', 'not_built', 'failed']),
  /** host:port as recorded, if any. */
  address: z.string().nullable(),
  agentsUrl: z.string().nullable(),
  tokenFile: z.string().nullable(),
  sentence: z.string(),
  conflict: z
    .object({ address: z.string(), since: z.number(), holder: portHolderView, remedy: z.array(z.string()) })
    .nullable(),
})
export type EndpointView = z.infer<typeof endpointView>

export const checkView = z.object({
  name: z.string(),
  outcome: z.enum(['ok', 'warn', 'fail']),
  seen: z.string(),
  remedy: z.string().nullable(),
})
export type CheckView = z.infer<typeof checkView>

export const nodeView = z.object({
  version: z.string(),
  aid: z.string(),
  kind: z.enum(['desktop', 'headless']),
  pid: z.number(),
  startedAt: z.number(),
  dataDir: z.string(),
  secretStore: z.enum(['keychain', 'passphrase', 'file']),
  join: joinStateView,
  endpoint: endpointView,
  counts: z.object({
    agents: z.number(),
    openTasks: z.number(),
    inbox: z.number(),
    approvals: z.number(),
    outbox: z.number(),
  }),
})
export type NodeView = z.infer<typeof nodeView>

export const agentView = z.object({
  aid: z.string(),
  /** Verified name, or `agent <first 12 of the AID>`. */
  name: z.string(),
  description: z.string().nullable(),
  verification: z.enum(['VERIFIED', 'UNVERIFIED']),
  keyState: z.enum(['fresh', 'stale']),
  forked: z.boolean(),
  official: z.boolean(),
  charge: z.enum(['free', 'partial', 'paid']).nullable(),
  homeHub: z.string().nullable(),
  lastSeen: z.number().nullable(),
  relation: z.enum(['trust', 'allow', 'deny', 'none']),
  skills: z.array(z.object({ id: z.string(), name: z.string(), description: z.string(), tags: z.array(z.string()) })),
  /** URL of the proxy on the local endpoint, if the endpoint has an address. */
  url: z.string().nullable(),
})
export type AgentView = z.infer<typeof agentView>

export const keyHistoryEntryView = z.object({
  seq: z.number(),
  type: z.enum(['inception', 'rotation', 'deactivation']),
  emergency: z.boolean(),
  at: z.number(),
})

export const agentDetailView = agentView.extend({
  history: z.array(keyHistoryEntryView),
  networkCard: agentCardSchema.nullable(),
  proxyCard: z.unknown(),
  curl: z.string().nullable(),
  tasks: z.object({ total: z.number(), failed: z.number() }),
})
export type AgentDetailView = z.infer<typeof agentDetailView>

export const taskSummaryView = z.object({
  id: z.string(),
  requester: z.string(),
  direction: z.enum(['out', 'in']),
  peer: z.string(),
  peerName: z.string(),
  contextId: z.string(),
  state: taskStateSchema,
  stateSeq: z.number(),
  reason: z.string().nullable(),
  effectStatus: z.string().nullable(),
  receipt: z.enum(['verified', 'unverified', 'unknown']),
  createdAt: z.number(),
  updatedAt: z.number(),
  title: z.string(),
  cancelRequested: z.boolean(),
  unconfirmed: z.boolean(),
})
export type TaskSummaryView = z.infer<typeof taskSummaryView>

/**
 * Parts in views carry no bytes of files: `raw` is "" and `metadata["anet.file"]` has {size, sha256}; text and data over
 * 256 KiB likewise. `tasks.saveFile` writes the bytes where the operator said.
 */
export const taskEntryView = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('message'),
    seq: z.number(),
    at: z.number(),
    from: z.enum(['requester', 'provider']),
    message: messageSchema,
  }),
  z.object({
    kind: z.literal('status'),
    seq: z.number(),
    at: z.number(),
    status: taskStatusSchema,
    reason: z.string().nullable(),
  }),
  z.object({
    kind: z.literal('artifact'),
    seq: z.number(),
    at: z.number(),
    artifact: artifactSchema,
    append: z.boolean(),
    lastChunk: z.boolean(),
  }),
  z.object({ kind: z.literal('cancel'), seq: z.number(), at: z.number() }),
])
export type TaskEntryView = z.infer<typeof taskEntryView>

export const taskDetailView = taskSummaryView.extend({
  entries: z.array(taskEntryView),
  artifacts: z.array(artifactSchema),
  evidence: z.array(
    z.object({
      seq: z.number(),
      at: z.number(),
      kind: z.string(),
      cid: z.string(),
      data: z.record(z.string(), z.unknown()),
    }),
  ),
})
export type TaskDetailView = z.infer<typeof taskDetailView>

export const inboxItemView = z.object({
  id: z.number(),
  task: taskSummaryView,
  state: z.enum(['queued', 'forwarding', 'waiting', 'awaiting_admission', 'answered', 'unverified']),
  /** Number of the message among the task's entries. */
  seq: z.number(),
  receivedAt: z.number(),
  trusted: z.boolean(),
  message: messageSchema,
})
export type InboxItemView = z.infer<typeof inboxItemView>
