import type { CheckView, EndpointView } from '@shared/contract/index.ts'
import type { Config } from '@shared/config/index.ts'
import type { Identity, Peers } from '../../identity/index.ts'
import type { Network } from '../../network/index.ts'
import { type Clock, type Log, Topic, type Unsubscribe } from '../../ports.ts'
import type { Store } from '../../store/index.ts'
import type { FaultPoint, Tasks } from '../../tasks/index.ts'
import { addressOf, endpointFiles } from './address.ts'
import { bringUp } from './bring-up.ts'
import { Cards } from './cards.ts'
import { endpointChecks } from './endpoint-checks.ts'
import { type Listener, openListener } from './listener.ts'
import { type ListenerLimits, localLimits } from './limits.ts'
import { listAgents } from './list.ts'
import { createOperations } from './operations.ts'
import { agentsPath } from './pages.ts'
import { RemoteAgents } from './remote-agents.ts'
import { createRouter } from './router.ts'
import { TaskStreams } from './task-stream.ts'
import { TokenFile } from './token-file.ts'

export interface A2aModule {
  status(): EndpointView
  onStatus(listener: (status: EndpointView) => void): Unsubscribe
  /** Tries the recorded address again; does nothing while the endpoint is up. */
  retry(): Promise<EndpointView>
  /** The card that clients of the endpoint see for an agent. */
  proxyCard(aid: string): unknown
  /** A new token; `emergency` also ends the streams that the old one opened. */
  rotateToken(options?: { emergency?: boolean }): Promise<void>
  /** What `anet doctor` says of the endpoint. */
  checks(): CheckView[]
  /** Requests and streams that are open now. */
  counts(): { readonly requests: number; readonly streams: number }
  close(): Promise<void>
}

export interface A2aModuleOptions {
  readonly dataDir: string
  readonly config: Config
  readonly identity: Identity
  readonly peers: Peers
  readonly network: Network
  readonly tasks: Tasks
  readonly store: Store
  /** For the backends of the module, which start with the same options. */
  readonly fault?: FaultPoint
  readonly clock: Clock
  readonly log: Log
  /** For tests of the limits. */
  readonly limits?: Partial<ListenerLimits>
}

const realm = 'anet-local-a2a'

/**
 * Starts the local A2A endpoint (seed, Local A2A endpoint). A port that somebody else holds, or an address file that
 * cannot be read, leaves the endpoint down with a state that says so; the rest of the node runs.
 */
export async function startA2aModule(options: A2aModuleOptions): Promise<A2aModule> {
  const { identity, network, tasks, clock, log } = options
  const limits: ListenerLimits = { ...localLimits, ...options.limits }
  const files = endpointFiles(options.dataDir)
  const token = new TokenFile({ path: files.token, clock, replacedTokenGrace: limits.replacedTokenGrace })
  const cards = new Cards(identity)
  const agents = new RemoteAgents({ own: identity.aid, peers: options.peers, network, clock })
  const topic = new Topic<EndpointView>((error) => log.error({ err: error }, 'a listener of the endpoint state failed'))
  const operations = createOperations({ tasks, own: identity.aid, log })
  const streams = new TaskStreams({ tasks, log })

  let status: EndpointView = view('starting', null, 'The local A2A endpoint is starting.')
  let listener: Listener | undefined

  function view(
    state: EndpointView['state'],
    address: string | null,
    sentence: string,
    conflict: EndpointView['conflict'] = null,
  ): EndpointView {
    const agentsUrl = address === null ? null : `http://${address}${agentsPath}`
    return { state, address, agentsUrl, tokenFile: files.token, sentence, conflict }
  }

  function become(next: EndpointView): EndpointView {
    status = next
    topic.publish(next)
    return next
  }

  function open(port: number): Promise<Listener> {
    const agentsUrl = `http://${addressOf(port)}${agentsPath}`
    return openListener({
      policy: {
        port,
        realm,
        authorised: (authorization) => token.authorised(authorization),
        get generation() {
          return token.generation
        },
        tokenEnd: (generation) => token.tokenEnd(generation),
      },
      limits,
      handle: createRouter({
        operations,
        streams,
        log,
        isAgent: (aid) => agents.isAgent(aid),
        list: (query) => listAgents(network.directory, identity.aid, agentsUrl, query),
        card: async (aid) => cards.proxyCard(aid, await agents.find(aid), agentsUrl),
        extendedCard: () => cards.extendedCard(),
      }),
      log,
    })
  }

  async function start(): Promise<EndpointView> {
    const outcome = await bringUp({ files, token, open, clock, log })
    switch (outcome.kind) {
      case 'up':
        listener = outcome.listener
        return become(view('up', outcome.address, `A2A clients reach the network at http://${outcome.address}.`))
      case 'conflict': {
        const { conflict } = outcome
        return become(view('port_conflict', conflict.address, outcome.sentence, conflict))
      }
      case 'invalid':
        return become(
          view('address_file_invalid', null, `${outcome.why} Mend or remove ${files.address}, then try again.`),
        )
      case 'failed':
        return become(view('failed', outcome.address, outcome.sentence))
    }
  }

  let running: Promise<EndpointView> | undefined
  function startOnce(): Promise<EndpointView> {
    running ??= start().finally(() => {
      running = undefined
    })
    return running
  }

  await startOnce()

  return {
    status: () => status,
    onStatus: (onChange) => topic.subscribe(onChange),
    async retry() {
      return status.state === 'up' ? status : startOnce()
    },
    proxyCard(aid) {
      const agentsUrl = status.agentsUrl ?? `http://127.0.0.1${agentsPath}`
      return cards.proxyCard(aid, agents.known(aid), agentsUrl).card
    },
    rotateToken: (rotation) => token.replace(rotation),
    checks: () => endpointChecks(status, token.problem()),
    counts: () => listener?.counts() ?? { requests: 0, streams: 0 },
    async close() {
      await running
      await listener?.close()
      listener = undefined
    },
  }
}
