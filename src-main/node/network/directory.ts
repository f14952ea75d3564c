import { AnetError } from '@shared/errors.ts'
import { type AgentRecord, type Aid, type DirectoryQuery, equalBytes, type WireCrypto } from '@shared/wire/index.ts'
import type { Identity, Peer, Peers } from '../identity/index.ts'
import { type Clock, type Log, Topic, type Unsubscribe } from '../ports.ts'
import type { Store, Tx } from '../store/index.ts'
import { listPage } from './directory-listing.ts'
import { DirectoryStore, recordBytes } from './directory-store.ts'
import { type HubClient, searchPage } from './hub-client.ts'
import { isPermanent } from './rejections.ts'
import type { Directory, DirectoryEntry } from './types.ts'

/** A hub that never ends its listing does not keep the node busy for ever. */
const maxPages = 25_000
/** How often a peer's messages move it up in the list. */
const wroteEvery = 10 * 60_000

export interface DirectoryParts {
  readonly store: Store
  readonly identity: Identity
  readonly peers: Peers
  readonly crypto: WireCrypto
  readonly clock: Clock
  readonly log: Log
}

/** The local copy of the hub's directory, with the peers that wrote to this node. Never holds the node itself. */
export class LocalDirectory implements Directory {
  readonly #parts: DirectoryParts
  readonly #rows: DirectoryStore
  readonly #changes: Topic<undefined>
  #hub: HubClient | undefined
  #refreshing: Promise<void> | undefined

  constructor(parts: DirectoryParts) {
    this.#parts = parts
    this.#rows = new DirectoryStore(parts.store)
    this.#changes = new Topic((error) => parts.log.error({ err: error }, 'a listener of the directory failed'))
  }

  /** The hub to ask; undefined while there is none. */
  use(hub: HubClient | undefined): void {
    this.#hub = hub
  }

  list(query: DirectoryQuery): { agents: readonly DirectoryEntry[]; nextCursor: string } {
    const { store, crypto, peers } = this.#parts
    const { aids, nextCursor } = listPage(store.read, this.#rows, crypto, query)
    const known = peers.many(aids)
    const agents = aids.map((aid) => this.#entry(aid, known.get(aid)))
    return { agents, nextCursor }
  }

  get(aid: Aid): DirectoryEntry | undefined {
    const { store, identity, peers } = this.#parts
    if (aid === identity.aid) return undefined
    const peer = peers.get(aid)
    return peer === undefined && this.#rows.row(store.read, aid) === undefined ? undefined : this.#entry(aid, peer)
  }

  async lookup(aid: Aid): Promise<DirectoryEntry> {
    const { store, identity, clock } = this.#parts
    if (aid === identity.aid) throw unknownAgent(aid)
    const record = await this.#client().lookup(aid)
    if (record.aid !== aid) throw unknownAgent(aid)
    // an error of the verifiers is thrown after the commit: what they stored as proof has to stay
    const error = await store.write((tx) => this.#learn(tx, record, undefined, clock.now()))
    this.#changes.publish(undefined)
    if (error !== undefined) throw error
    const entry = this.get(aid)
    if (entry === undefined) throw unknownAgent(aid)
    return entry
  }

  async refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh(this.#client()).finally(() => {
      this.#refreshing = undefined
    })
    await this.#refreshing
  }

  onChange(listener: () => void): Unsubscribe {
    return this.#changes.subscribe(listener)
  }

  count(): number {
    return this.#rows.count()
  }

  /** A verified message came from this peer. */
  wrote(tx: Tx, peer: Peer): void {
    const now = this.#parts.clock.now()
    const row = this.#rows.row(tx, peer.aid)
    if (row?.wrote === 1 && now - row.lastSeen < wroteEvery) return
    this.#rows.put(tx, { aid: peer.aid, lastSeen: now, wrote: true, card: peer.card?.card ?? null }, now)
    tx.afterCommit(() => this.#changes.publish(undefined))
  }

  async prune(now: number): Promise<void> {
    await this.#rows.prune(now)
  }

  /** Page by page, each in one transaction. What the hub no longer names goes, unless it wrote to this node. */
  async #refresh(hub: HubClient): Promise<void> {
    const { store, clock } = this.#parts
    const refresh = await store.write((tx) => this.#rows.generation(tx) + 1)
    const begun = Math.max(refresh, clock.now())
    let cursor: string | undefined
    for (let page = 0; page < maxPages; page += 1) {
      const answer = await hub.search({ limit: searchPage, ...(cursor === undefined ? {} : { cursor }) })
      await store.write((tx) => {
        for (const record of answer.agents) this.#learn(tx, record, begun, clock.now())
      })
      cursor = answer.cursor === '' ? undefined : answer.cursor
      if (cursor === undefined) break
    }
    if (cursor === undefined) await store.write((tx) => this.#removeMissing(tx, begun, clock.now()))
    this.#changes.publish(undefined)
  }

  #removeMissing(tx: Tx, refresh: number, now: number): void {
    for (const { aid, wrote } of this.#rows.missingSince(tx, refresh)) {
      if (wrote === 1) this.#rows.put(tx, { aid, lastSeen: 0, onHub: false }, now)
      else this.#rows.remove(tx, aid, now)
    }
  }

  /** Verifies one record and stores it. A record that does not verify is listed as seen; its error is returned. */
  #learn(tx: Tx, record: AgentRecord, refresh: number | undefined, now: number): AnetError | undefined {
    const { peers, identity, crypto, log } = this.#parts
    const { aid, history, keyset, card, withdrawal } = record
    if (aid === identity.aid) return undefined
    const lastSeen = Math.min(record.lastSeen, now)
    const seen = { aid, lastSeen, ...(refresh === undefined ? {} : { onHub: true, refresh }) }
    const digest = crypto.sha256(recordBytes(record))
    const before = this.#rows.row(tx, aid)
    if (refresh !== undefined && before?.digest !== null && before !== undefined && equalBytes(before.digest, digest)) {
      this.#rows.put(tx, seen, now)
      return undefined
    }
    try {
      const news = {
        history,
        keyset,
        ...(card === undefined ? {} : { card }),
        ...(withdrawal === undefined ? {} : { withdrawal }),
      }
      const peer = peers.learn(tx, aid, news, 'lookup', now)
      this.#rows.put(tx, { ...seen, digest, card: peer.card?.card ?? null }, now)
      return undefined
    } catch (error) {
      if (!isPermanent(error)) throw error
      log.debug({ code: error.code, agent: aid }, 'a record of the hub does not verify')
      this.#rows.put(tx, { ...seen, digest }, now)
      return error
    }
  }

  #entry(aid: Aid, peer: Peer | undefined): DirectoryEntry {
    return { aid, peer, lastSeen: this.#rows.row(this.#parts.store.read, aid)?.lastSeen ?? 0 }
  }

  #client(): HubClient {
    if (this.#hub === undefined)
      throw new AnetError('hub_unreachable', 'There is no connection to a hub at the moment.', {
        remedy: 'See "anet status".',
      })
    return this.#hub
  }
}

function unknownAgent(aid: Aid): AnetError {
  return new AnetError('unknown_agent', `The hub knows no agent ${aid}.`)
}
