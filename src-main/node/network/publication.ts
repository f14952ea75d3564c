import {
  type Aid,
  bytesSchema,
  decodeSigned,
  encodeSigned,
  equalBytes,
  limits,
  type Signed,
  type WireCrypto,
} from '@shared/wire/index.ts'
import { z } from 'zod'
import type { Identity } from '../identity/index.ts'
import type { Clock } from '../ports.ts'
import type { Store } from '../store/index.ts'
import type { HubClient, JoinRequest, PublishRequest } from './hub-client.ts'
import { readMeta, writeMeta } from './meta.ts'

const ownKey = 'own-card'
const publishedKey = 'published'
const day = 24 * 60 * 60_000
/** A card is valid for 30 days and signed anew after 15. */
const renewAfter = 15 * day

/** The newest statement about the own card: the card itself or its withdrawal. `json` is the digest of what it says. */
const ownCardSchema = z.object({
  kind: z.enum(['card', 'withdrawal']),
  json: bytesSchema.nullable(),
  signed: bytesSchema,
  at: z.int(),
})
type OwnCard = z.infer<typeof ownCardSchema>

/** What the hub last accepted: digests. */
const publishedSchema = z.object({
  hub: z.string(),
  head: z.string(),
  keyset: bytesSchema,
  card: bytesSchema.nullable(),
})
type Published = z.infer<typeof publishedSchema>

export interface PublicationParts {
  readonly store: Store
  readonly identity: Identity
  readonly crypto: WireCrypto
  readonly clock: Clock
  /** The card's A2A JSON; undefined if this node shows none. */
  readonly cardJson: () => Uint8Array | undefined
  readonly fault: (name: string) => void
}

/** Keeps the hub's copy of history, key set and card equal to the node's own, whatever was missed in between. */
export class Publication {
  readonly #parts: PublicationParts

  constructor(parts: PublicationParts) {
    this.#parts = parts
  }

  /** What a join sends, without an invite. */
  async joinRequest(): Promise<JoinRequest> {
    const { identity } = this.#parts
    const card = await this.#ownCard()
    const withCard = card?.kind === 'card' ? { card: wire(decodeOwn(card)) } : {}
    return { history: identity.history.map(wire), keyset: wire(identity.keySet()), ...withCard }
  }

  /** Records that a join was accepted: the hub has what {@link joinRequest} held. */
  async joined(hub: Aid): Promise<void> {
    const card = await this.#ownCard()
    await this.#record({ ...this.#current(hub, card), card: card?.kind === 'card' ? this.#digest(card.signed) : null })
  }

  /** Publishes what the hub does not have yet. Nothing is sent if it has everything. Errors: as of `publish`. */
  async sync(client: HubClient, hub: Aid): Promise<void> {
    const { identity, store, fault } = this.#parts
    const card = await this.#ownCard()
    const current = this.#current(hub, card)
    const stored = readMeta(store.read, publishedKey, publishedSchema)
    const before = stored?.hub === hub ? stored : undefined
    const request: PublishRequest = {}
    if (before?.head !== current.head) request.history = identity.history.map(wire)
    if (!same(before?.keyset ?? null, current.keyset)) request.keyset = wire(identity.keySet())
    if (card !== undefined && !same(before?.card ?? null, current.card)) {
      if (card.kind === 'card') request.card = wire(decodeOwn(card))
      // a hub that never had a card has nothing to withdraw
      else if (before?.card !== null) request.withdrawal = wire(decodeOwn(card))
    }
    if (Object.keys(request).length === 0) return
    await client.publish(request)
    fault('publish.sent')
    await this.#record(current)
  }

  #current(hub: Aid, card: OwnCard | undefined): Published {
    const { identity } = this.#parts
    return {
      hub,
      head: identity.head,
      keyset: this.#digest(encodeSigned(identity.keySet())),
      card: card === undefined ? null : this.#digest(card.signed),
    }
  }

  async #record(published: Published): Promise<void> {
    await this.#parts.store.write((tx) => writeMeta(tx, publishedKey, published))
  }

  /** The newest own statement, signed anew where the card changed, aged or went. */
  async #ownCard(): Promise<OwnCard | undefined> {
    const { store, identity, clock, cardJson } = this.#parts
    const stored = readMeta(store.read, ownKey, ownCardSchema)
    const json = cardJson()
    const now = clock.now()
    if (json === undefined) {
      if (stored?.kind !== 'card') return stored
      return await this.#store((tx) => ({
        kind: 'withdrawal' as const,
        json: null,
        signed: encodeSigned(identity.withdrawCard(tx, now)),
        at: now,
      }))
    }
    const digest = this.#digest(json)
    const sameKey = stored !== undefined && decodeOwn(stored).sigs[0]?.ksn === identity.ksn
    if (stored?.kind === 'card' && sameKey && same(stored.json, digest) && now - stored.at < renewAfter) return stored
    return await this.#store((tx) => ({
      kind: 'card' as const,
      json: digest,
      signed: encodeSigned(identity.signCard(tx, json, now)),
      at: now,
    }))
  }

  async #store(make: (tx: Parameters<Identity['signCard']>[0]) => OwnCard): Promise<OwnCard> {
    return await this.#parts.store.write((tx) => {
      const card = make(tx)
      writeMeta(tx, ownKey, card)
      return card
    })
  }

  #digest(bytes: Uint8Array): Uint8Array {
    return this.#parts.crypto.sha256(bytes)
  }
}

function decodeOwn(card: OwnCard): Signed {
  return decodeSigned(card.signed, card.kind === 'card' ? 'card' : 'card-withdrawal', limits.card.bytes + 64 * 1024)
}

/** The schemas' output types are mutable, the statements are not: a copy of the outer form. */
function wire(signed: Signed): JoinRequest['keyset'] {
  return { t: signed.t, v: signed.v, sigs: signed.sigs.map(({ by, ksn, sig }) => ({ by, ksn, sig })) }
}

function same(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null ? a === b : equalBytes(a, b)
}
