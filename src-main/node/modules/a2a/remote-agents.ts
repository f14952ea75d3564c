import { type Aid, isCid } from '@shared/wire/index.ts'
import type { Peer, Peers } from '../../identity/index.ts'
import type { Network } from '../../network/index.ts'
import type { Clock } from '../../ports.ts'
import { verifiedCard } from './cards.ts'

const wellFormed = /^[a-z0-9]{1,128}$/
/** How long a client that asks for a card waits for the hub, and how soon the hub is asked again (milliseconds). */
const lookupTime = 5000
const askAgainAfter = 30_000
const rememberedLookups = 1024

/** The agents that have a path on the endpoint: everyone but this node itself. */
export class RemoteAgents {
  readonly #own: Aid
  readonly #peers: Peers
  readonly #network: Pick<Network, 'directory' | 'joinState'>
  readonly #clock: Clock
  readonly #asked = new Map<Aid, { readonly at: number; readonly answered: Promise<unknown> }>()

  constructor(parts: { own: Aid; peers: Peers; network: Pick<Network, 'directory' | 'joinState'>; clock: Clock }) {
    this.#own = parts.own
    this.#peers = parts.peers
    this.#network = parts.network
    this.#clock = parts.clock
  }

  /** A node is not a remote agent of itself. Whether the agent exists only the network can tell. */
  isAgent(aid: string): boolean {
    return aid !== this.#own && wellFormed.test(aid)
  }

  /** What is known of an agent here and now. */
  known(aid: Aid): Peer | undefined {
    return this.#peers.get(aid)
  }

  /** The same; an agent that nothing is known of is looked up at the hub first, once in a while. */
  async find(aid: Aid): Promise<Peer | undefined> {
    const known = this.#peers.get(aid)
    if (verifiedCard(known) !== undefined || !isCid(aid) || !this.#network.joinState.registered) return known
    await this.#lookup(aid)
    return this.#peers.get(aid)
  }

  #lookup(aid: Aid): Promise<unknown> {
    const now = this.#clock.now()
    const earlier = this.#asked.get(aid)
    if (earlier !== undefined && now - earlier.at < askAgainAfter) return earlier.answered
    let timer: NodeJS.Timeout | undefined
    const tooLong = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, lookupTime)
    })
    const answered = Promise.race([
      // why it failed does not matter to a reader of cards: the placeholder says "unverified"
      this.#network.directory.lookup(aid).catch(() => undefined),
      tooLong,
    ]).finally(() => clearTimeout(timer))
    this.#asked.delete(aid)
    this.#asked.set(aid, { at: now, answered })
    for (const oldest of this.#asked.keys()) {
      if (this.#asked.size <= rememberedLookups) break
      this.#asked.delete(oldest)
    }
    return answered
  }
}
