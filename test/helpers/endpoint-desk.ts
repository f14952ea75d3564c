import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import {
  type AgentCard,
  type Artifact,
  extensionUris,
  isInterrupted,
  isTerminal,
  type Message,
  type TaskState,
} from '@shared/a2a/index.ts'
import { AnetError } from '@shared/errors.ts'
import { configSchema } from '@shared/config/index.ts'
import type { Identity, Peer, Peers } from '../../src-main/node/identity/index.ts'
import { type A2aModule, type A2aModuleOptions, startA2aModule } from '../../src-main/node/modules/a2a/index.ts'
import type { Network } from '../../src-main/node/network/index.ts'
import type { Store } from '../../src-main/node/store/index.ts'
import type {
  StoredPart,
  TaskEntry,
  TaskRecord,
  Tasks,
  TaskSummary,
  TaskUpdate,
} from '../../src-main/node/tasks/index.ts'
import { temporaryFolder } from './temporary-folder.ts'

export const own = 'ownnode'.padEnd(59, 'a')
export const agent = 'remoteagent'.padEnd(59, 'b')
export const otherAgent = 'otheragent'.padEnd(59, 'c')

type Listener = Parameters<Tasks['subscribe']>[1]

interface Kept {
  record: TaskRecord
  readonly entries: TaskEntry[]
  readonly listeners: Set<Listener>
}

/**
 * The requester's half of the task layer, in memory: a test says what the remote agent does, and when. What the endpoint
 * does with the real one is tested in test/integration/a2a/nodes.test.ts.
 */
export class TaskDesk implements Pick<
  Tasks,
  'send' | 'summary' | 'get' | 'list' | 'cancel' | 'subscribe' | 'settled' | 'materialise'
> {
  readonly #kept = new Map<string, Kept>()
  readonly #sent = new Map<string, string>()
  /** Contents of sealed files, by name. */
  readonly files = new Map<string, string>()
  /** Thrown by the next send. */
  refusal: AnetError | undefined
  /** Called after a task was opened: what the remote agent does at once. */
  onOpened: (id: string) => void = () => undefined
  time = Date.parse('2026-01-01T00:00:00.000Z')

  /** Subscriptions that are open now. */
  get subscriptions(): number {
    return [...this.#kept.values()].reduce((sum, { listeners }) => sum + listeners.size, 0)
  }

  async send(input: Parameters<Tasks['send']>[0]): ReturnType<Tasks['send']> {
    const { agent: peer, message } = input
    const key = `${peer} ${message.contextId ?? ''} ${message.messageId}`
    const known = this.#sent.get(key)
    if (known !== undefined) return { task: this.#summary(this.#of(known)), repeated: true }
    if (this.refusal !== undefined) throw this.refusal
    if (message.taskId !== undefined) return { task: this.#continue(message.taskId, peer, message), repeated: false }
    const id = this.open({ peer, message })
    this.#sent.set(key, id)
    this.onOpened(id)
    return { task: this.#summary(this.#of(id)), repeated: false }
  }

  /** Opens a task without a client. */
  open(options: { peer?: string; direction?: 'in' | 'out'; message?: Message; contextId?: string } = {}): string {
    const id = randomBytes(16).toString('hex')
    const message = options.message ?? { messageId: id, role: 'ROLE_USER', parts: [{ text: 'hello' }] }
    const record: TaskRecord = {
      key: { requester: own, id },
      direction: options.direction ?? 'out',
      peer: options.peer ?? agent,
      contextId: message.contextId ?? options.contextId ?? `context-of-${id}`,
      state: 'TASK_STATE_SUBMITTED',
      stateSeq: 0,
      reason: undefined,
      effectStatus: undefined,
      receipt: 'unknown',
      createdAt: this.time,
      updatedAt: this.time,
      statusAt: this.time,
      title: '',
      cancelRequested: false,
      unconfirmed: false,
      status: { state: 'TASK_STATE_SUBMITTED', timestamp: new Date(this.time).toISOString() },
      history: [],
      artifacts: [],
    }
    this.#kept.set(id, { record, entries: [], listeners: new Set() })
    this.#append(id, {
      kind: 'message',
      from: 'requester',
      message: { ...message, taskId: id, contextId: record.contextId },
    })
    return id
  }

  status(id: string, state: TaskState, message?: Message, reason?: string): void {
    const kept = this.#of(id)
    const status = {
      state,
      timestamp: new Date(this.time).toISOString(),
      ...(message === undefined ? {} : { message }),
    }
    kept.record = { ...kept.record, state, status, statusAt: this.time, reason }
    this.#append(id, { kind: 'status', status, ...(reason === undefined ? {} : { reason }) })
  }

  artifact(
    id: string,
    artifact: Omit<Artifact, 'parts'> & { parts: readonly StoredPart[] },
    append = false,
    lastChunk = true,
  ): void {
    const kept = this.#of(id)
    kept.record = { ...kept.record, artifacts: [...kept.record.artifacts, artifact] }
    this.#append(id, { kind: 'artifact', artifact, append, lastChunk })
  }

  preview(id: string, artifact: Artifact): void {
    const preview = { key: { requester: own, id }, artifact }
    for (const listener of this.#of(id).listeners) listener.onPreview?.(preview)
  }

  summary(key: TaskRecord['key']): TaskSummary | undefined {
    const kept = key.requester === own ? this.#kept.get(key.id) : undefined
    return kept === undefined ? undefined : this.#summary(kept)
  }

  get(key: TaskRecord['key']): TaskRecord | undefined {
    return this.#kept.get(key.id)?.record
  }

  list(query: Parameters<Tasks['list']>[0]): ReturnType<Tasks['list']> {
    const found = [...this.#kept.values()]
      .map(({ record }) => record)
      .filter((task) => query.direction === undefined || task.direction === query.direction)
      .filter((task) => query.peer === undefined || task.peer === query.peer)
      .filter((task) => query.contextId === undefined || task.contextId === query.contextId)
      .filter((task) => query.state === undefined || task.state === query.state)
      .filter((task) => query.statusSince === undefined || task.statusAt >= query.statusSince)
      .toSorted((a, b) => b.statusAt - a.statusAt || a.key.id.localeCompare(b.key.id))
    if (query.cursor !== undefined && !/^\d+$/.test(query.cursor))
      throw new AnetError('bad_cursor', 'This is no cursor.')
    const from = Number(query.cursor ?? 0)
    const end = from + query.limit
    return { tasks: found.slice(from, end), nextCursor: end < found.length ? String(end) : '', total: found.length }
  }

  async cancel(key: TaskRecord['key']): Promise<TaskSummary> {
    const kept = this.#of(key.id)
    if (isTerminal(kept.record.state)) throw new AnetError('task_not_cancelable', 'The task has ended already.')
    kept.record = { ...kept.record, cancelRequested: true }
    this.#append(key.id, { kind: 'cancel' })
    return this.#summary(kept)
  }

  subscribe(key: TaskRecord['key'], listener: Listener): ReturnType<Tasks['subscribe']> {
    const kept = this.#kept.get(key.id)
    if (kept === undefined) return undefined
    kept.listeners.add(listener)
    return { task: kept.record, close: () => kept.listeners.delete(listener) }
  }

  settled(key: TaskRecord['key'], signal?: AbortSignal): Promise<TaskSummary> {
    const kept = this.#of(key.id)
    return new Promise((resolve) => {
      const subscription = this.subscribe(key, { onUpdate: ({ task }) => settle(task) })
      const settle = (task: TaskSummary): void => {
        if (signal?.aborted !== true && !isTerminal(task.state) && !isInterrupted(task.state)) return
        subscription?.close()
        resolve(task)
      }
      signal?.addEventListener('abort', () => settle(this.#summary(kept)), { once: true })
      settle(this.#summary(kept))
    })
  }

  async materialise(part: StoredPart): ReturnType<Tasks['materialise']> {
    if (!('large' in part)) return part
    const { large, ...rest } = part
    return { ...rest, [large.field]: this.files.get(large.file.name) ?? '' }
  }

  #continue(id: string, peer: string, message: Message): TaskSummary {
    const kept = this.#kept.get(id)
    if (kept === undefined || kept.record.peer !== peer) throw new AnetError('task_not_found', 'No such task.')
    if (isTerminal(kept.record.state))
      throw new AnetError('task_terminal', 'The task has ended; it takes no more messages.')
    if (message.contextId !== undefined && message.contextId !== kept.record.contextId) {
      throw new AnetError('context_mismatch', 'The task belongs to another context.')
    }
    kept.record = { ...kept.record, state: 'TASK_STATE_SUBMITTED', status: { state: 'TASK_STATE_SUBMITTED' } }
    this.#append(id, { kind: 'message', from: 'requester', message })
    return this.#summary(kept)
  }

  #of(id: string): Kept {
    const kept = this.#kept.get(id)
    if (kept === undefined) throw new Error(`No task ${id}.`)
    return kept
  }

  #summary({ record }: Kept): TaskSummary {
    return record
  }

  #append(id: string, what: DistributiveOmit<TaskEntry, 'seq' | 'at'>): void {
    const kept = this.#of(id)
    const seq = kept.record.stateSeq + 1
    const entry = { ...what, seq, at: this.time } as TaskEntry
    kept.entries.push(entry)
    kept.record = {
      ...kept.record,
      stateSeq: seq,
      updatedAt: this.time,
      ...(entry.kind === 'message' ? { history: [...kept.record.history, entry.message] } : {}),
    }
    const update: TaskUpdate = { task: this.#summary(kept), entry }
    for (const listener of kept.listeners) listener.onUpdate(update)
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

export const remoteCard: AgentCard = {
  name: 'Lighthouse <b>& Co</b>',
  description: 'Keeps ships off the rocks.',
  supportedInterfaces: [],
  version: '3.1',
  capabilities: {
    extensions: [{ uri: extensionUris.agent, params: { charge: 'free', homeHub: 'hub'.padEnd(59, 'd') } }],
  },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain', 'image/png'],
  skills: [{ id: 'shine', name: 'Shine', description: 'Turns on the light.', tags: ['light'], examples: [] }],
}

/** A peer whose card was verified. The endpoint reads only these fields. */
export function verifiedPeer(aid: string, card: AgentCard = remoteCard): Peer {
  const network = { aid, seq: 1, issuedAt: 0, exp: 1, card: new TextEncoder().encode(JSON.stringify(card)) }
  return {
    aid,
    card: { network, card },
    cardBytes: new TextEncoder().encode(`signed bytes of ${aid}`),
    keyState: 'stale',
    forked: false,
  } as unknown as Peer
}

export interface EndpointDesk {
  readonly dataDir: string
  readonly module: A2aModule
  readonly tasks: TaskDesk
  readonly peers: Map<string, Peer>
  readonly publicKey: KeyObject
  readonly port: number
  readonly token: string
  /** URL of an agent's path. */
  url(aid?: string): string
  /** The headers that every request of a client has. */
  readonly headers: Readonly<Record<string, string>>
  rpc(method: string, params?: unknown, more?: Record<string, string>): Promise<Response>
}

/** The endpoint over a task desk, on a data directory of its own. */
export async function endpointDesk(options: Partial<A2aModuleOptions> = {}): Promise<EndpointDesk> {
  const dataDir = options.dataDir ?? (await temporaryFolder())
  const tasks = new TaskDesk()
  const peers = new Map<string, Peer>([[agent, verifiedPeer(agent)]])
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const identity = {
    aid: own,
    ksn: 0,
    signRaw: (data: Uint8Array) => new Uint8Array(sign(null, data, privateKey)),
  } as unknown as Identity
  const entries = (): { aid: string; peer: Peer | undefined; lastSeen: number }[] =>
    [own, agent, otherAgent].map((aid) => ({ aid, peer: peers.get(aid), lastSeen: 1_700_000_000_000 }))
  const network = {
    joinState: { state: 'joined', registered: true, sentence: '', hub: undefined, since: 0 },
    directory: {
      list: (query: { cursor?: string }) => {
        if (query.cursor !== undefined) throw new AnetError('bad_cursor', 'This cursor is not of this list.')
        return { agents: entries(), nextCursor: '' }
      },
      lookup: async () => {
        throw new AnetError('unknown_agent', 'The hub knows no such agent.')
      },
    },
  } as unknown as Network
  const module = await startA2aModule({
    dataDir,
    config: configSchema.parse({}),
    identity,
    peers: { get: (aid: string) => peers.get(aid) } as unknown as Peers,
    network,
    tasks: tasks as unknown as Tasks,
    store: {} as Store,
    clock: { now: () => Date.now() },
    log: pino({ level: 'silent' }),
    ...options,
    // nobody waits two seconds for each refused body
    limits: { drainTime: 100, ...options.limits },
  })
  onTestFinished(() => module.close())
  const address = module.status().address ?? '127.0.0.1:0'
  const port = Number(address.split(':')[1])
  const token = await readFile(`${dataDir}/modules/a2a/a2a_token.txt`, 'utf8').then(
    (text) => text.trim(),
    () => '',
  )
  const headers = { authorization: `Bearer ${token}` }
  const url = (aid: string = agent): string => `http://${address}/a2a/v1/agents/${aid}`
  return {
    dataDir,
    module,
    tasks,
    peers,
    publicKey,
    port,
    token,
    url,
    headers,
    rpc: (method, params, more) =>
      fetch(`${url()}/jsonrpc`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', 'a2a-version': '1.0', ...more },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      }),
  }
}
