import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import type { Aid, Body, MessageType } from '@shared/wire/index.ts'
import { type RunningHub, startHub } from '../../src-hub/index.ts'
import { crypto } from '../../src-main/node/crypto.ts'
import {
  createPeers,
  identityMigrations,
  type Identity,
  openIdentity,
  type Peers,
} from '../../src-main/node/identity/index.ts'
import {
  createNetwork,
  type Network,
  type NetworkTiming,
  networkMigrations,
  type Received,
  type TaskKey,
} from '../../src-main/node/network/index.ts'
import { openSecrets } from '../../src-main/node/secrets/index.ts'
import { beginSetup } from '../../src-main/node/setup.ts'
import { openStore, type Store } from '../../src-main/node/store/index.ts'
import { temporaryDirectory } from './temporary-hub.ts'

/** Times short enough for a test; whatever depends on them is waited for, not slept through. */
export const quick: Partial<NetworkTiming> = {
  retryFirst: 10,
  retryMax: 100,
  resendAfter: [150, 300, 600],
  acknowledgeAfter: 20,
  admissionEvery: 50,
  answerWithin: 5000,
}

export interface NodeClock {
  offset: number
  now(): number
}

/** The network floor of one node with its real store, keys and sockets, and what its handlers received. */
export interface NetworkNode {
  readonly aid: Aid
  network: Network
  store: Store
  identity: Identity
  peers: Peers
  readonly clock: NodeClock
  readonly received: Received[]
  /** What `prepare` returned for each of them. */
  readonly prepared: unknown[]
  /** Called first by every handler; throws what a test wants. */
  onMessage: (message: Received) => void
  card: Uint8Array | undefined
  fault: (name: string) => void
  readonly log: string[]
  join(hub: { url: string; aid: Aid }, invite?: string): Promise<void>
  send<T extends MessageType>(to: Aid, type: T, task: TaskKey, body: Body<T>): Promise<void>
  /** Opens a task of this node with a peer and sends its first message. */
  open(to: Aid, text?: string): Promise<TaskKey>
  stop(): Promise<void>
  /** Stops and starts again on the same directory. */
  restart(): Promise<void>
  readonly hub: { value: { url: string; aid: Aid } | undefined }
}

const types: readonly MessageType[] = [
  'task.open',
  'task.message',
  'task.cancel',
  'task.status',
  'task.artifact',
  'task.preview',
  'refusal',
]

export async function networkNode(
  options: {
    timing?: Partial<NetworkTiming>
    start?: boolean
    prepare?: (message: { body: unknown }) => Promise<unknown>
  } = {},
): Promise<NetworkNode> {
  const dataDir = join(await temporaryDirectory(), 'node')
  const clock: NodeClock = { offset: 0, now: () => Date.now() + clock.offset }
  const setup = await beginSetup({ dataDir, secretStore: 'file', clock })
  const words = setup.phrase.split(' ')
  const { aid } = await setup.finish(setup.ask.map((position) => words[position - 1] ?? ''))
  const lines: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) })
  const hub: NetworkNode['hub'] = { value: undefined }

  const parts = async () => {
    const secrets = await openSecrets({ dataDir, log })
    const migrations = [...identityMigrations, ...networkMigrations]
    const store = await openStore({ dataDir, wrappingKey: secrets.wrappingKey, migrations, log, clock })
    const identity = await openIdentity({ secrets, store, crypto, clock, log })
    const peers = createPeers({ store, crypto, clock, log })
    const network = createNetwork({
      store,
      identity,
      peers,
      crypto,
      clock,
      log,
      hub: {
        get: () => hub.value,
        save: (value) => void (hub.value = value),
        forget: () => void (hub.value = undefined),
      },
      cardJson: () => node.card,
      fault: (name) => node.fault(name),
      timing: { ...quick, ...options.timing },
    })
    for (const type of types) {
      network.on(
        type,
        (_tx, message, ready) => {
          node.onMessage(message)
          node.received.push(message)
          node.prepared.push(ready)
        },
        options.prepare,
      )
    }
    if (options.start !== false) network.start()
    return { store, identity, peers, network }
  }
  let running = true
  const node: NetworkNode = {
    aid,
    clock,
    hub,
    received: [],
    prepared: [],
    onMessage: () => {},
    card: undefined,
    fault: () => {},
    log: lines,
    network: undefined as unknown as Network,
    store: undefined as unknown as Store,
    identity: undefined as unknown as Identity,
    peers: undefined as unknown as Peers,
    join: async (to, invite) => {
      await node.network.join({ ...to, ...(invite === undefined ? {} : { invite }) })
    },
    send: async (to, type, task, body) => {
      const prepared = await node.network.prepareBody(type, body)
      await node.store.write((tx) => node.network.enqueue(tx, { to, type, task, body: prepared }))
    },
    open: async (to, text = 'hello') => {
      const task = { requester: aid, id: Buffer.from(crypto.randomBytes(16)).toString('hex') }
      const body = await node.network.prepareBody('task.open', opening(text))
      await node.store.write((tx) => {
        node.network.openChannel(tx, task, to)
        node.network.enqueue(tx, { to, type: 'task.open', task, body })
      })
      return task
    },
    stop: async () => {
      if (!running) return
      running = false
      await node.network.stop()
      await node.store.close()
    },
    restart: async () => {
      await node.stop()
      Object.assign(node, await parts())
      running = true
    },
  }
  Object.assign(node, await parts())
  onTestFinished(() => node.stop())
  return node
}

/** Nodes that have joined the hub. */
export async function joinedNodes(
  hub: RunningHub,
  count: number,
  options: Parameters<typeof networkNode>[0] = {},
): Promise<NetworkNode[]> {
  const nodes = await Promise.all(Array.from({ length: count }, () => networkNode(options)))
  for (const node of nodes) await node.join(hub)
  return nodes
}

/** A hub that can be stopped and started again on the same port and directory. */
export async function restartableHub(): Promise<{
  url: string
  aid: Aid
  running: RunningHub
  stop(): Promise<void>
  start(): Promise<void>
  /** Loses members and mail, not the hub's identity. */
  forget(): Promise<void>
}> {
  const dataDir = join(await temporaryDirectory(), 'hub')
  const first = await startHub({ port: 0, policy: 'open', dataDir })
  const port = Number(new URL(first.url).port)
  let running: RunningHub | undefined = first
  const hub = {
    url: first.url,
    aid: first.aid,
    running: first,
    stop: async () => {
      const stopping = running
      running = undefined
      await stopping?.stop()
    },
    start: async () => {
      running = await startHub({ port, policy: 'open', dataDir })
      hub.running = running
    },
    forget: async () => {
      for (const name of await readdir(dataDir)) if (name.startsWith('hub.db')) await rm(join(dataDir, name))
    },
  }
  onTestFinished(() => hub.stop())
  return hub
}

export function opening(text: string): Body<'task.open'> {
  return {
    contextId: 'context',
    nonce: crypto.randomBytes(32),
    message: { messageId: 'm-0', role: 'ROLE_USER', parts: [{ text }] },
  }
}

export function saying(text: string): Body<'task.message'> {
  return { message: { messageId: `m-${text.slice(0, 20)}`, role: 'ROLE_USER', parts: [{ text }] } }
}

export function artifact(text: string): Body<'task.artifact'> {
  return { artifact: { artifactId: 'a', parts: [{ text }] }, append: false, lastChunk: true }
}

/** The text of each received message, in order. */
export function texts(node: NetworkNode): string[] {
  return node.received.map(({ body }) => {
    const { message, artifact: held } = body as { message?: Parts; artifact?: Parts }
    return (message ?? held)?.parts[0]?.text ?? ''
  })
}
interface Parts {
  parts: { text?: string }[]
}
