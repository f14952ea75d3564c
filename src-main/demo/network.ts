import { z } from 'zod'
import { type DemoSettings, providerSettings } from './agent-config.ts'
import type { Child } from './child.ts'
import { agentIds, type Layout, prepareLayout, rememberedHub, rememberHub } from './layout.ts'
import { type CreateProcess, forkProcess } from './process.ts'
import { Processes, type ProcessesOptions, upOrNothing } from './processes.ts'
import type { Supervised } from './supervisor.ts'

export interface DemoNetworkOptions {
  readonly dir: string
  /** AID of the node that the agents trust. */
  readonly operator: string
  readonly onDeath: ProcessesOptions['onDeath']
  /** Ends everything, also what has not come up yet. */
  readonly signal: AbortSignal
  readonly createProcess?: CreateProcess
}

/** A hub and three agents for a node that runs elsewhere. */
export interface DemoNetwork {
  readonly hub: { readonly url: string; readonly aid: string }
  readonly agents: readonly string[]
  stop(): Promise<void>
}

/** Starts hub and agents; resolves when the agents have joined the hub. */
export async function startDemoNetwork(options: DemoNetworkOptions): Promise<DemoNetwork> {
  const { dir, operator, onDeath, signal, createProcess = forkProcess } = options
  const layout = await prepareLayout(dir)
  const processes = new Processes({ layout, createProcess, onDeath })
  return upOrNothing(processes, signal, async () => {
    const network = beginNetwork(layout, processes, Promise.resolve(operator))
    const [hub, agents] = await Promise.all([network.hub.up, network.up])
    return { hub, agents, stop: () => processes.stop() }
  })
}

/** AID of the hub of the demo that was started on this directory, if there was one. */
export async function demoHubAid(dir: string): Promise<string | undefined> {
  return (await rememberedHub(dir))?.aid
}

const hubSchema = z.object({ url: z.string(), aid: z.string() })
const preparedSchema = z.object({ aid: z.string() })
const startedSchema = z.object({ aid: z.string(), address: z.string(), tokenFile: z.string() })
export type StartedNode = z.infer<typeof startedSchema>

export interface BeginningNetwork {
  readonly hub: Supervised<z.infer<typeof hubSchema>>
  /** AIDs of the agents, when all have joined. */
  readonly up: Promise<readonly string[]>
}

/** Starts all processes at once; each waits for what it needs of the others. */
export function beginNetwork(layout: Layout, processes: Processes, operator: Promise<string>): BeginningNetwork {
  const hub = processes.start('hub', 'hub-process', async (child) => {
    const port = (await rememberedHub(layout.dir))?.port ?? 0
    const view = hubSchema.parse(await child.call('start', { dataDir: layout.hub, port }))
    await rememberHub(layout.dir, { port: Number(new URL(view.url).port), aid: view.aid })
    return view
  })
  const agents = processes.start('agents', 'agents-process', (child) =>
    child.call('start', {
      tokenFile: layout.tokenFile,
      sockets: Object.fromEntries(agentIds.map((agent) => [agent, layout.socket(agent)])),
    }),
  )
  const providers = agentIds.map((agent) =>
    processes.start(agent, 'node-process', async (child) => {
      const dataDir = layout.node(agent)
      await prepareNode(child, dataDir)
      const settings = providerSettings(agent, layout, { hub: await hub.up, operator: await operator })
      return startNodeIn(child, dataDir, settings)
    }),
  )
  const nodes = Promise.all(providers.map((provider) => provider.up))
  const up = Promise.all([nodes, agents.up]).then(([started]) => started.map(({ aid }) => aid))
  return { hub, up }
}

/** Makes the node's identity if it has none. */
export async function prepareNode(child: Child, dataDir: string): Promise<string> {
  return preparedSchema.parse(await child.call('prepare', { dataDir })).aid
}

/** Starts the node with these settings; resolves when it has joined the hub. */
export async function startNodeIn(child: Child, dataDir: string, settings: DemoSettings): Promise<StartedNode> {
  return startedSchema.parse(await child.call('start', { dataDir, settings }))
}
