import type { NodeHandlers, NodeView, TaskSummaryView } from '../../src-shared/contract/index.ts'
import { AnetError } from '../../src-shared/errors.ts'

/** Views as a node would show them, for tests of the doors. */
export const aNodeView: NodeView = {
  version: '0.1.0',
  aid: 'bafyreihvpymdwmsjfrytzn2jqw3sxogkkagakvpxy4cbrckrqlzcrtqkbu',
  kind: 'headless',
  pid: 4242,
  startedAt: 1_700_000_000_000,
  dataDir: '/home/somebody/.anet',
  secretStore: 'keychain',
  join: { state: 'no_hub', registered: false, sentence: 'This node has not joined a hub.', hub: null, since: 1 },
  endpoint: {
    state: 'up',
    address: '127.0.0.1:43811',
    agentsUrl: 'http://127.0.0.1:43811/a2a/v1/agents',
    tokenFile: '/home/somebody/.anet/modules/a2a/a2a_token.txt',
    sentence: 'The local A2A endpoint is up.',
    conflict: null,
  },
  counts: { agents: 0, openTasks: 0, inbox: 0, approvals: 0, outbox: 0 },
}

export const aTaskSummary: TaskSummaryView = {
  id: '6f0c1a2b3c4d5e6f708192a3b4c5d6e7',
  requester: aNodeView.aid,
  direction: 'out',
  peer: 'bafyreibm6jg3ux5qumhcn2b3flc3tyu6dmlb4xa7u5bf44yegnrjhc4yeq',
  peerName: 'echo',
  contextId: 'c',
  state: 'TASK_STATE_WORKING',
  stateSeq: 1,
  reason: null,
  effectStatus: null,
  receipt: 'unknown',
  createdAt: 1,
  updatedAt: 1,
  title: 'Hello',
  cancelRequested: false,
  unconfirmed: false,
}

const dead = (): never => {
  throw new AnetError('unused', 'This test does not use the operation.')
}

/** Handlers for a door of which a test uses only some. */
export const deadHandlers: NodeHandlers = {
  node: { status: dead, doctor: dead, stop: dead },
  hub: { join: dead, leave: dead },
  agents: { list: dead, get: dead, setRelation: dead },
  tasks: { list: dead, get: dead, send: dead, cancel: dead, wait: dead, saveFile: dead },
  inbox: { list: dead, get: dead, answer: dead },
  endpoint: { status: dead, retry: dead },
}
