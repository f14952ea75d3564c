import { readFile } from 'node:fs/promises'
import { AnetError } from '@shared/errors.ts'
import { z } from 'zod'
import { operatorConfig, providerConfig } from './agent-config.ts'
import type { Child } from './child.ts'
import { type AgentId, agentIds, type Layout, prepareLayout, rememberedHubPort, rememberHubPort } from './layout.ts'
import { Supervised } from './supervisor.ts'

/** What a program needs to use the demo: the content of the ready file. */
export interface DemoView {
  /** host:port of the operator's A2A endpoint. */
  readonly addr: string
  readonly tokenFile: string
  /** Data directory of the operator's node: what ANET_DATA_DIR is set to. */
  readonly dataDir: string
  readonly aid: string
  readonly agents: readonly { readonly aid: string; readonly name: string; readonly url: string }[]
}

export interface RunningDemo {
  readonly view: DemoView
  stop(): Promise<void>
}

export interface StartDemoOptions {
  readonly dir: string
  /** A process of the demo died; `again`: it is being started once more. */
  readonly onDeath: (name: string, again: boolean) => void
  /** Ends everything, also what has not come up yet. */
  readonly signal: AbortSignal
}

const hubSchema = z.object({ url: z.string(), aid: z.string() })
const preparedSchema = z.object({ aid: z.string() })
const startedSchema = z.object({ aid: z.string(), address: z.string(), tokenFile: z.string() })
const verifiedSchema = z.array(z.object({ aid: z.string(), name: z.string() }))
const listSchema = z.object({
  agents: z.array(z.object({ aid: z.string(), url: z.string(), verification: z.string() })),
})

/**
 * Starts a hub, the three agents in one process, a node for each of them, and the operator's node: processes of their
 * own, all at once. Resolves when the operator's endpoint lists all three agents as VERIFIED. If anything fails,
 * everything that was started is ended again.
 */
export async function startDemo({ dir, onDeath, signal }: StartDemoOptions): Promise<RunningDemo> {
  const layout = await prepareLayout(dir)
  signal.throwIfAborted()
  const processes = new Processes(layout, onDeath)
  const onAbort = () => void processes.stop()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return { view: await bringUp(layout, processes), stop: () => processes.stop() }
  } catch (error) {
    await processes.stop()
    signal.throwIfAborted()
    throw error
  }
}

async function bringUp(layout: Layout, processes: Processes): Promise<DemoView> {
  const port = (await rememberedHubPort(layout)) ?? 0
  const hub = processes.start('hub', 'hub-process', async (child) => {
    const view = hubSchema.parse(
      await child.call('start', { dataDir: layout.hub, port: await knownPort(layout, port) }),
    )
    await rememberHubPort(layout, Number(new URL(view.url).port))
    return view
  })
  const agents = processes.start('agents', 'agents-process', (child) =>
    child.call('start', {
      tokenFile: layout.tokenFile,
      sockets: Object.fromEntries(agentIds.map((agent) => [agent, layout.socket(agent)])),
    }),
  )
  const operatorAid = deferred<string>()
  const operator = processes.start('operator', 'node-process', async (child) => {
    operatorAid.resolve((await prepare(child, layout.operator)).aid)
    const config = operatorConfig({ hub: await hub.up })
    return startedSchema.parse(await child.call('start', { dataDir: layout.operator, config }))
  })
  operator.up.catch((error: unknown) => operatorAid.reject(error))
  const providers = agentIds.map((agent: AgentId) =>
    processes.start(agent, 'node-process', async (child) => {
      const dataDir = layout.node(agent)
      await prepare(child, dataDir)
      const [value, aid] = await Promise.all([hub.up, operatorAid.promise])
      const config = providerConfig(agent, layout, { hub: value, operator: aid })
      return startedSchema.parse(await child.call('start', { dataDir, config }))
    }),
  )
  const [{ aid, address, tokenFile }, nodes] = await Promise.all([
    operator.up,
    Promise.all(providers.map((provider) => provider.up)),
    agents.up,
  ])
  const aids = nodes.map((node) => node.aid)
  const verified = verifiedSchema.parse(await operator.child.call('awaitVerified', { aids }))
  const urls = await verifiedUrls(address, tokenFile)
  return {
    addr: address,
    tokenFile,
    dataDir: layout.operator,
    aid,
    agents: aids.map((agent) => ({
      aid: agent,
      name: verified.find((entry) => entry.aid === agent)?.name ?? '',
      url: urls.get(agent) ?? missing(agent),
    })),
  }
}

/** The hub stays where it was, also when its process is started again. */
async function knownPort(layout: Layout, first: number): Promise<number> {
  return (await rememberedHubPort(layout)) ?? first
}

async function prepare(child: Child, dataDir: string): Promise<{ aid: string }> {
  return preparedSchema.parse(await child.call('prepare', { dataDir }))
}

/** The list as a client gets it. */
async function verifiedUrls(address: string, tokenFile: string): Promise<Map<string, string>> {
  const token = (await readFile(tokenFile, 'utf8')).trim()
  const response = await fetch(`http://${address}/a2a/v1/agents`, { headers: { authorization: `Bearer ${token}` } })
  const { agents } = listSchema.parse(await response.json())
  return new Map(agents.filter((agent) => agent.verification === 'VERIFIED').map((agent) => [agent.aid, agent.url]))
}

function missing(aid: string): never {
  throw new AnetError('demo_incomplete', `The endpoint of the demo does not list the agent ${aid}.`)
}

class Processes {
  readonly #layout: Layout
  readonly #onDeath: StartDemoOptions['onDeath']
  readonly #nodes: Supervised<unknown>[] = []
  readonly #servers: Supervised<unknown>[] = []

  constructor(layout: Layout, onDeath: StartDemoOptions['onDeath']) {
    this.#layout = layout
    this.#onDeath = onDeath
  }

  start<T>(name: string, entry: string, up: (child: Child) => Promise<T>): Supervised<T> {
    const process = new Supervised({
      name,
      // every output of the build lies one folder deep
      entry: new URL(`../demo/${entry}.js`, import.meta.url),
      errorLog: this.#layout.errorLog(name),
      bringUp: up,
      onDeath: this.#onDeath,
    })
    const group = entry === 'node-process' ? this.#nodes : this.#servers
    group.push(process)
    return process
  }

  /** Nodes first: they end their business with the hub and the agents. */
  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map((process) => process.stop()))
    await Promise.all(this.#servers.map((process) => process.stop()))
  }
}

function deferred<T>() {
  let resolve: (value: T) => void = () => undefined
  let reject: (error: unknown) => void = () => undefined
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue
    reject = onError
  })
  promise.catch(() => undefined)
  return { promise, resolve, reject }
}
