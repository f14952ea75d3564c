import type { CheckView, EndpointView, NodeView } from '@shared/contract/index.ts'
import type { Config } from '@shared/config/index.ts'
import type { Identity, Peers } from '../identity/index.ts'
import type { Network } from '../network/index.ts'
import type { Clock, Log, Unsubscribe } from '../ports.ts'
import type { Store } from '../store/index.ts'
import type { Tasks } from '../tasks/index.ts'

/** The local A2A endpoint as the contract needs it; absent in a build without the module or when it is disabled. */
export interface EndpointPort {
  status(): EndpointView
  onStatus(listener: (status: EndpointView) => void): Unsubscribe
  /** Tries the recorded address again. */
  retry(): Promise<EndpointView>
  /** The card that clients of the endpoint see for an agent. */
  proxyCard(aid: string): unknown
}

/** What the contract's implementation is made of. */
export interface ApiParts {
  readonly about: Pick<NodeView, 'version' | 'kind' | 'pid' | 'startedAt' | 'dataDir' | 'secretStore'>
  readonly config: {
    get(): Config
    /** Writes config.json and takes the change over. */
    update(change: (config: Config) => Config): Promise<Config>
  }
  readonly identity: Identity
  readonly store: Store
  readonly peers: Peers
  readonly network: Network
  readonly tasks: Tasks
  readonly endpoint: EndpointPort
  readonly checks: () => Promise<readonly CheckView[]>
  /** Begins the graceful stop of the node and returns at once. */
  readonly requestStop: () => void
  readonly clock: Clock
  readonly log: Log
}
