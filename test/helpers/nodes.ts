import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import type { NodeClient, NodeEvent, TaskDetailView } from '@shared/contract/index.ts'
import { type HubOptions, type RunningHub, startHub } from '../../src-hub/index.ts'
import { type ConfigInput, updateConfig } from '../../src-main/node/config/index.ts'
import { type NodeOptions, type RunningNode, startNode } from '../../src-main/node/node.ts'
import { beginSetup } from '../../src-main/node/setup.ts'
import { quick } from './network-node.ts'

/** A hub with its data directory; it stops and goes with the test. */
export type TestHub = RunningHub & { readonly dataDir: string }

export interface TestNodeOptions {
  /** Name on the network card; a node with a name and no `skills` shows one skill, so that it is listed. */
  readonly name: string
  readonly hub?: Pick<RunningHub, 'url' | 'aid'>
  /** AIDs on the trust list. */
  readonly trust?: readonly string[]
  readonly policy?: 'closed' | 'approve' | 'open'
  /** More of config.json. */
  readonly config?: Partial<ConfigInput>
  readonly node?: Partial<NodeOptions>
}

export interface TestNode {
  readonly name: string
  readonly aid: string
  readonly dataDir: string
  readonly node: RunningNode
  readonly client: NodeClient
  /** Log lines since the first start. */
  readonly log: readonly string[]
  /** Resolves with the first event, from now on, of which `find` makes something. */
  event<T>(find: (event: NodeEvent) => T | undefined): Promise<T>
  /** Resolves with a task when `is` holds for it. */
  task(id: string, is: (task: TaskDetailView) => boolean): Promise<TaskDetailView>
  stop(): Promise<void>
  /** Stops and starts again on the same data directory. */
  restart(): Promise<void>
}

export async function testFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'anet-nodes-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** A hub in this process, on a free port; open unless told otherwise. */
export async function startTestHub(options: Partial<HubOptions> = {}): Promise<TestHub> {
  const dataDir = options.dataDir ?? join(await testFolder(), 'hub')
  const hub = await startHub({ port: 0, policy: 'open', ...options, dataDir })
  onTestFinished(() => hub.stop())
  return { ...hub, dataDir }
}

/** Makes an identity on a data directory, with the secret store `file`. */
export async function setUpNode(dataDir: string): Promise<string> {
  const setup = await beginSetup({ dataDir, secretStore: 'file' })
  const words = setup.phrase.split(' ')
  const { aid } = await setup.finish(setup.ask.map((position) => words[position - 1] ?? ''))
  return aid
}

/** A whole node in this process: real store, keys, sockets, endpoint; joined when it returns, if there is a hub. */
export async function startTestNode(options: TestNodeOptions): Promise<TestNode> {
  const { name } = options
  const dataDir = join(await testFolder(), 'node')
  const aid = await setUpNode(dataDir)
  await updateConfig(dataDir, (config) => ({ ...config, ...configFor(options) }))
  const log: string[] = []
  const start = (): Promise<RunningNode> =>
    startNode({
      dataDir,
      kind: 'headless',
      log: pino({ level: 'debug' }, { write: (line: string) => void log.push(line) }),
      timing: quick,
      ...options.node,
    })
  let node = await start()
  onTestFinished(() => node.stop())

  const event: TestNode['event'] = (find) =>
    new Promise((resolve) => {
      const unsubscribe = node.door.subscribe((next) => {
        const found = find(next)
        if (found === undefined) return
        resolve(found)
        // the first event comes before subscribe has returned
        queueMicrotask(() => unsubscribe())
      })
    })
  const joined = async (): Promise<void> => {
    if (options.hub !== undefined) {
      await event((next) => (next.type === 'node' && next.value.join.state === 'joined' ? true : undefined))
    }
  }
  await joined()
  return {
    name,
    aid,
    dataDir,
    log,
    event,
    get node() {
      return node
    },
    get client() {
      return node.door.client
    },
    async task(id, is) {
      let changed = (): void => {}
      const unsubscribe = node.door.subscribe(() => changed())
      try {
        for (;;) {
          const next = new Promise<void>((resolve) => (changed = resolve))
          const task = await node.door.client.tasks.get({ id })
          if (is(task)) return task
          await next
        }
      } finally {
        unsubscribe()
      }
    },
    stop: () => node.stop(),
    async restart() {
      await node.stop()
      node = await start()
      await joined()
    },
  }
}

/** Waits until a node's directory holds the verified card of another. */
export async function known(by: TestNode, other: Pick<TestNode, 'aid'>): Promise<void> {
  for (;;) {
    const { agents } = await by.client.agents.list({ refresh: true, limit: 200 })
    if (agents.some(({ aid, verification }) => aid === other.aid && verification === 'VERIFIED')) return
  }
}

function configFor({ name, hub, trust = [], policy, config }: TestNodeOptions): Partial<ConfigInput> {
  return {
    agent: { name },
    skills: [{ id: 'text', name: 'Text', description: `What ${name} does with a text.` }],
    ...(hub === undefined ? {} : { hub: { url: hub.url, aid: hub.aid } }),
    ...(policy === undefined ? {} : { inbound: { policy } }),
    peers: { trust: trust.map((aid) => ({ aid })) },
    ...config,
  }
}
