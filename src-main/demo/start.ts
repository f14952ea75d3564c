import { readFile } from 'node:fs/promises'
import { AnetError } from '@shared/errors.ts'
import { z } from 'zod'
import { type Layout, prepareLayout } from './layout.ts'
import { beginNetwork, prepareNode, startNodeIn } from './network.ts'
import { forkProcess } from './process.ts'
import { Processes, type ProcessesOptions, upOrNothing } from './processes.ts'

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
  readonly onDeath: ProcessesOptions['onDeath']
  /** Ends everything, also what has not come up yet. */
  readonly signal: AbortSignal
}

const verifiedSchema = z.array(z.object({ aid: z.string(), name: z.string() }))
const listSchema = z.object({
  agents: z.array(z.object({ aid: z.string(), url: z.string(), verification: z.string() })),
})

/**
 * Starts the demo network and the operator's node, as processes of their own and all at once. Resolves when the
 * operator's endpoint lists all three agents as VERIFIED. If anything fails, everything that was started is ended again.
 */
export async function startDemo({ dir, onDeath, signal }: StartDemoOptions): Promise<RunningDemo> {
  const layout = await prepareLayout(dir)
  const processes = new Processes({ layout, createProcess: forkProcess, onDeath })
  const view = await upOrNothing(processes, signal, () => bringUp(layout, processes))
  return { view, stop: () => processes.stop() }
}

async function bringUp(layout: Layout, processes: Processes): Promise<DemoView> {
  const operatorAid = deferred<string>()
  const network = beginNetwork(layout, processes, operatorAid.promise)
  const operator = processes.start('operator', 'node-process', async (child) => {
    operatorAid.resolve(await prepareNode(child, layout.operator))
    return startNodeIn(child, layout.operator, { hub: await network.hub.up, name: 'Demo operator' })
  })
  operator.up.catch((error: unknown) => operatorAid.reject(error))
  const [{ aid, address, tokenFile }, aids] = await Promise.all([operator.up, network.up])
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
