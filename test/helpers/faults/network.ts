import { type ChildProcess, fork, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import type { CheckView } from '@shared/contract/index.ts'
import { connectControl } from '../../../src-main/node/control/index.ts'
import { type ConfigInput, updateConfig } from '../../../src-main/node/config/index.ts'
import { bundleInto } from '../bundle.ts'
import { setUpNode } from '../nodes.ts'
import { EndpointClient } from './endpoint-client.ts'
import { Program } from './program.ts'

const out = resolve(import.meta.dirname, '../../../out')

export interface FaultyNode {
  readonly aid: string
  readonly dataDir: string
  readonly program: Program
}

/** A hub, an operator, a provider and its agent: four processes that are started again when they die. */
export interface FaultyNetwork {
  readonly folder: string
  readonly agentToken: string
  readonly hub: Program
  readonly agent: Program
  readonly operator: FaultyNode
  readonly provider: FaultyNode
  readonly programs: Readonly<Record<'operator' | 'provider' | 'hub' | 'agent', Program>>
  /** The operator's endpoint towards the provider. */
  readonly client: EndpointClient
  /** Every text that the agent was ever given, in the order in which it came. */
  texts(): Promise<string[]>
  /** Lets the agent answer a text that begins with "hold", as soon as it holds it. */
  release(text: string): void
  /** Resolves when the agent has been given so many texts more. */
  agentHasSeen(more: number): Promise<void>
  stop(): Promise<void>
}

const environment = (fault: string | undefined): NodeJS.ProcessEnv => {
  const { ANET_DATA_DIR: _dir, ANET_FAULT: _fault, NODE_OPTIONS: _options, ...rest } = process.env
  return fault === undefined ? rest : { ...rest, ANET_FAULT: fault }
}

export interface FaultyNetworkOptions {
  /** Puts something between the nodes and the hub; resolves with the URL under which they find it. */
  readonly between?: (hubUrl: string) => Promise<string>
  /** More of both nodes' config.json. */
  readonly config?: Partial<ConfigInput>
}

/** Starts all four from the build, in a folder of their own. Resolves when both nodes have joined the hub. */
export async function startFaultyNetwork({ between, config }: FaultyNetworkOptions = {}): Promise<FaultyNetwork> {
  const folder = await mkdtemp(join(tmpdir(), 'anet-faults-'))
  const paths = { socket: join(folder, 'agent.sock'), token: join(folder, 'token'), record: join(folder, 'texts') }
  const agentToken = randomBytes(32).toString('hex')
  await writeFile(paths.token, agentToken, { mode: 0o600 })
  await writeFile(paths.record, '')

  const hub = hubProgram(join(folder, 'hub'))
  const { program: agent, bundle, agentHasSeen } = await agentProgram(paths)
  const [{ url, aid }] = await Promise.all([hub.start(), agent.start()])
  const hubView = { url: (await between?.(url)) ?? url, aid }
  const operator = await createNode('operator', join(folder, 'operator'))
  const provider = await createNode('provider', join(folder, 'provider'))
  await configure(operator, { ...config, hub: hubView, agent: { name: 'Operator' } })
  await configure(provider, {
    ...config,
    hub: hubView,
    agent: { name: 'Provider' },
    skills: [{ id: 'count', name: 'Count' }],
    peers: { trust: [{ aid: operator.aid }] },
    modules: { a2a: { backends: [{ match: '*', url: `unix://${paths.socket}`, token_file: paths.token }] } },
  })
  await Promise.all([operator.program.start(), provider.program.start()])
  await Promise.all([joined(operator), joined(provider)])
  const programs = { operator: operator.program, provider: provider.program, hub: hub.program, agent }
  const client = new EndpointClient(operator.dataDir, provider.aid)
  const texts = async (): Promise<string[]> =>
    (await readFile(paths.record, 'utf8'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as string)
  return {
    folder,
    agentToken,
    hub: hub.program,
    agent,
    operator,
    provider,
    programs,
    client,
    texts,
    agentHasSeen,
    release: (text) => void agent.child.send(text),
    async stop() {
      await Promise.all([operator.program.stop(), provider.program.stop()])
      await Promise.all([hub.program.stop(), agent.stop()])
      await Promise.all([rm(folder, { recursive: true, force: true }), rm(bundle, { recursive: true, force: true })])
    },
  }
}

/** What `anet doctor` would say of a node that runs. */
export async function checksOf(node: FaultyNode): Promise<readonly CheckView[]> {
  await node.program.up()
  const control = connectControl({ dataDir: node.dataDir })
  try {
    return (await control.client.node.doctor({})).checks
  } finally {
    control.close()
  }
}

/** Resolves when the node has joined its hub. */
export async function joined(node: FaultyNode): Promise<void> {
  const control = connectControl({ dataDir: node.dataDir })
  try {
    await new Promise<void>((resolve) => {
      control.subscribe((event) => {
        if (event.type === 'node' && event.value.join.state === 'joined') resolve()
      })
    })
  } finally {
    control.close()
  }
}

export async function createNode(name: string, dataDir: string): Promise<FaultyNode> {
  return { dataDir, aid: await setUpNode(dataDir), program: nodeProgram(name, dataDir) }
}

export async function configure(node: FaultyNode, config: Partial<ConfigInput>): Promise<void> {
  await updateConfig(node.dataDir, (current) => ({ ...current, ...config }))
}

/** `anet up --foreground`; it works when it has printed its status. */
function nodeProgram(name: string, dataDir: string): Program {
  return new Program({
    name,
    spawn: (fault) =>
      spawn(process.execPath, [join(out, 'cli/index.js'), 'up', '--foreground', '--json', '--data', dataDir], {
        env: environment(fault),
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    ready: async ({ stdout }) => {
      let printed = ''
      if (stdout === null) return
      for await (const text of stdout.setEncoding('utf8')) {
        printed += String(text)
        if (!printed.includes('\n}\n')) continue
        stdout.resume()
        return
      }
    },
  })
}

const hubSchema = z.object({ id: z.literal(0), value: z.object({ url: z.string(), aid: z.string() }) })

/** The hub of the demo: it counts no rates, and everything here comes from one address. */
export function hubProgram(dataDir: string) {
  let port = 0
  let view = { url: '', aid: '' }
  const program = new Program({
    name: 'hub',
    spawn: (fault) =>
      fork(join(out, 'demo/hub-process.js'), [], {
        env: environment(fault),
        execArgv: [],
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      }),
    ready: async (child) => {
      const answered = message(child)
      child.send({ id: 0, method: 'start', input: { dataDir, port } })
      view = hubSchema.parse(await answered).value
      port = Number(new URL(view.url).port)
    },
  })
  return { program, start: (fault?: string) => program.start(fault).then(() => view) }
}

async function agentProgram(paths: { socket: string; token: string; record: string }) {
  const { program: script, folder: bundle } = await bundleInto('test/helpers/faults/counting-agent.ts')
  const news = new EventEmitter()
  let seen = 0
  const program = new Program({
    name: 'agent',
    spawn: () => {
      const child = fork(script, [paths.socket, paths.token, paths.record], {
        env: environment(undefined),
        execArgv: [],
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      })
      child.on('message', (received) => {
        if (received !== 'seen') return
        seen += 1
        news.emit('seen')
      })
      return child
    },
    ready: async (child) => void (await message(child)),
  })
  const agentHasSeen = async (more: number): Promise<void> => {
    const signal = AbortSignal.timeout(30_000)
    const wanted = seen + more
    while (seen < wanted) await once(news, 'seen', { signal })
  }
  return { program, bundle, agentHasSeen }
}

async function message(child: ChildProcess): Promise<unknown> {
  const [received] = (await once(child, 'message')) as [unknown]
  return received
}
