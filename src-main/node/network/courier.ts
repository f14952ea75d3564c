import { AnetError, isAnetError } from '@shared/errors.ts'
import { type Aid, type EncryptionKey, type Inner, limits, type WireCrypto } from '@shared/wire/index.ts'
import type { Identity, Peer, Peers } from '../identity/index.ts'
import type { Clock } from '../ports.ts'
import type { Store } from '../store/index.ts'
import { rawBodyOf } from './body.ts'
import type { HubClient } from './hub-client.ts'
import type { Sealing } from './sealing.ts'

/** What varies between messages; the rest of the inner message is the same for all that this node sends. */
export type Outgoing = Pick<Inner, 'to' | 'type' | 'task' | 'requester' | 'n' | 'ack' | 'mid' | 'ts' | 'exp'>

export interface CourierParts {
  readonly store: Store
  readonly identity: Identity
  readonly peers: Peers
  readonly sealing: Sealing
  readonly crypto: WireCrypto
  readonly clock: Clock
  /** Asks the hub for one agent and learns what it answers. */
  readonly lookup: (aid: Aid) => Promise<unknown>
}

/** Seals one message to its recipient's current key, with this node's newest history, and hands it to the hub. */
export class Courier {
  readonly #parts: CourierParts
  #hub: HubClient | undefined

  constructor(parts: CourierParts) {
    this.#parts = parts
  }

  /** The hub to send through; undefined while there is none to use. */
  use(hub: HubClient | undefined): void {
    this.#hub = hub
  }

  get ready(): boolean {
    return this.#hub !== undefined
  }

  /**
   * Seals to the recipient's current key. `encoded` is the body as encodeBody gives it. Errors: `peer_unknown`,
   * `peer_forked`, `peer_deactivated`, `peer_key_expired`, `message_too_large`, and those of the hub.
   */
  async seal(message: Outgoing, encoded: Uint8Array): Promise<Uint8Array> {
    const { identity, sealing, store } = this.#parts
    const { peer, key } = await this.#recipient(message.to)
    const fields = {
      ...message,
      from: identity.aid,
      history: identity.history,
      keyset: identity.keySet(),
      head: store.evidence.head(),
      peerHead: peer.history.head,
    }
    return await sealing.seal(fields, rawBodyOf(encoded, message.type as 'task.open'), key, identity.signingKey)
  }

  /** Resolves when the hub has it. Errors: `hub_unreachable`, `rate_limited`, and the hub's own codes. */
  async hand(envelope: Uint8Array, ephemeral = false): Promise<void> {
    const hub = this.#hub
    if (hub === undefined) throw new AnetError('hub_unreachable', 'There is no connection to a hub at the moment.')
    await hub.send(envelope, { ephemeral })
  }

  newMid(): Uint8Array {
    return this.#parts.crypto.randomBytes(limits.message.midBytes)
  }

  async #recipient(aid: Aid): Promise<{ peer: Peer; key: EncryptionKey }> {
    const { peers, clock } = this.#parts
    let key = peers.encryptionKey(aid, clock.now())
    if (key === undefined) {
      await this.#lookup(aid)
      key = peers.encryptionKey(aid, clock.now())
    }
    const peer = peers.get(aid)
    if (peer === undefined) throw new AnetError('peer_unknown', `Nothing verified is known of the agent ${aid}.`)
    if (peer.forked) throw new AnetError('peer_forked', `The agent ${aid} has shown two key histories.`)
    if (peer.history.key === null) throw new AnetError('peer_deactivated', `The agent ${aid} has ended its identity.`)
    if (key === undefined) throw new AnetError('peer_key_expired', `The agent ${aid} has no valid encryption key.`)
    return { peer, key }
  }

  async #lookup(aid: Aid): Promise<void> {
    try {
      await this.#parts.lookup(aid)
    } catch (error) {
      if (isAnetError(error, 'unknown_agent'))
        throw new AnetError('peer_unknown', `The hub does not know the agent ${aid}.`, { cause: error })
      throw error
    }
  }
}
