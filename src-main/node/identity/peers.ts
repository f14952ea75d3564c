import { AnetError } from '@shared/errors.ts'
import {
  type Aid,
  checkType,
  compareHistories,
  type EncryptionKey,
  encodeHistory,
  encodeSigned,
  encryptionKeyAt,
  equalBytes,
  type KeyHistory,
  type Signed,
  type VerifiedHistory,
  verifyCardWithdrawal,
  verifyHistory,
  verifyKeySet,
  verifyNetworkCard,
  verifySignature,
  type WireCrypto,
} from '@shared/wire/index.ts'
import type { Clock, Log } from '../ports.ts'
import type { Store, Tx } from '../store/index.ts'
import {
  type KnownCard,
  knownCard,
  type KnownKeySet,
  knownKeySet,
  type KnownPeer,
  peerView,
  type Position,
} from './known-peer.ts'
import { PeerTable } from './peer-table.ts'
import type { Peer, PeerFork, PeerNews, Peers } from './types.ts'

export interface PeersOptions {
  readonly store: Store
  readonly crypto: WireCrypto
  readonly clock: Clock
  readonly log: Log
}

export function createPeers(options: PeersOptions): Peers {
  return new KnownPeers(options)
}

interface Learning {
  readonly aid: Aid
  readonly known: KnownPeer | undefined
  readonly source: 'message' | 'lookup'
  readonly now: number
}

class KnownPeers implements Peers {
  readonly #options: PeersOptions
  readonly #table: PeerTable

  constructor(options: PeersOptions) {
    this.#options = options
    this.#table = new PeerTable(options.crypto)
  }

  get(aid: Aid): Peer | undefined {
    const known = this.#table.find(this.#options.store.read, aid)
    return known === undefined ? undefined : peerView(known, this.#options.clock.now())
  }

  many(aids: readonly Aid[]): Map<Aid, Peer> {
    const now = this.#options.clock.now()
    const found = this.#table.findMany(this.#options.store.read, aids)
    return new Map([...found].map(([aid, known]) => [aid, peerView(known, now)]))
  }

  encryptionKey(aid: Aid, now: number): EncryptionKey | undefined {
    const known = this.#table.find(this.#options.store.read, aid)
    if (known?.keySet === undefined || known.forked || known.history.key === null) return undefined
    return encryptionKeyAt(known.keySet.value, now)
  }

  verifyMessage(signed: Signed, from: Aid): boolean {
    const known = this.#table.find(this.#options.store.read, from)
    if (known === undefined || known.forked || known.history.key === null || signed.t !== 'message') return false
    return verifySignature(this.#options.crypto, signed, from, known.history.seq, known.history.key)
  }

  forks(aid: Aid): readonly PeerFork[] {
    return this.#table.forks(this.#options.store.read, aid)
  }

  learn(tx: Tx, expected: Aid, news: PeerNews, source: 'message' | 'lookup', now: number): Peer {
    const known = this.#table.find(tx, expected)
    if (known?.forked === true) return peerView(known, now)
    const learning = { aid: expected, known, source, now }
    try {
      const merged = this.#merge(learning, news)
      return peerView(merged === known ? merged : this.#table.save(tx, expected, merged, now), now)
    } catch (error) {
      if (error instanceof Contradiction) this.#quarantine(tx, expected, error.fork)
      throw error
    }
  }

  /** What is known after the news; `learning.known` itself if they bring nothing new. */
  #merge(learning: Learning, news: PeerNews): KnownPeer {
    const { known } = learning
    const { statements, history, outdated } = this.#history(learning, news.history)
    // an older history comes with statements of its time: what they say is older too
    const keySet = outdated ? known?.keySet : this.#keySet(learning, news.keyset, history)
    const card = outdated ? known?.card : this.#card(learning, news, history)
    if (known !== undefined && known.history === history && known.keySet === keySet && known.card === card) return known
    return { revision: 0, statements, history, keySet, card, forked: false }
  }

  #history(
    { aid, known, source, now }: Learning,
    received: KeyHistory,
  ): { statements: KeyHistory; history: VerifiedHistory; outdated: boolean } {
    const { crypto } = this.#options
    if (known !== undefined && isSame(known.statements, received)) {
      return { statements: known.statements, history: known.history, outdated: false }
    }
    const history = verifyHistory(crypto, received, aid)
    if (known === undefined) return { statements: received, history, outdated: false }
    switch (compareHistories(crypto, known.statements, received)) {
      case 'same':
        return { statements: known.statements, history: known.history, outdated: false }
      case 'extension':
        return { statements: received, history, outdated: false }
      case 'older':
        if (source === 'lookup') throw rollback('a shorter key history', aid)
        return { statements: known.statements, history: known.history, outdated: true }
      case 'fork': {
        const seq = received.findIndex((signed, at) => !isSameValue(signed, known.statements[at]))
        throw new Contradiction('two key histories', aid, {
          kind: 'history',
          seq,
          known: encodeHistory(known.statements),
          other: encodeHistory(received),
          at: now,
        })
      }
    }
  }

  #keySet(learning: Learning, signed: Signed | undefined, history: VerifiedHistory): KnownKeySet | undefined {
    const before = learning.known?.keySet
    if (signed === undefined || isSameValue(signed, before?.signed)) return before
    const received = knownKeySet(signed)
    return this.#newer(learning, 'key-set', before, received, () => verifyKeySet(this.#options.crypto, signed, history))
  }

  #card(learning: Learning, news: PeerNews, history: VerifiedHistory): KnownCard | undefined {
    const { crypto } = this.#options
    const { card: published, withdrawal } = news
    let card = learning.known?.card
    if (published !== undefined && !isSameValue(published, card?.signed)) {
      const received = knownCard(checkType(published, 'card'))
      card = this.#newer(learning, 'card', card, received, () =>
        verifyNetworkCard(crypto, published, history, learning.now),
      )
    }
    if (withdrawal !== undefined && !isSameValue(withdrawal, card?.signed)) {
      const received = knownCard(checkType(withdrawal, 'card-withdrawal'))
      card = this.#newer(learning, 'card', card, received, () => verifyCardWithdrawal(crypto, withdrawal, history))
    }
    return card
  }

  /** The high-water rule: lower is old or a rollback, equal with other bytes a fork, higher is verified and replaces. */
  #newer<S extends Position & { readonly signed: Signed }>(
    { aid, source, now }: Learning,
    kind: 'key-set' | 'card',
    before: S | undefined,
    received: S,
    verify: () => unknown,
  ): S {
    const order = before === undefined ? 1 : received.ksn - before.ksn || received.seq - before.seq
    if (before !== undefined && order < 0) {
      if (source === 'lookup') throw rollback(kind === 'card' ? 'an older card' : 'an older key set', aid)
      return before
    }
    verify()
    if (before !== undefined && order === 0) {
      throw new Contradiction(kind === 'card' ? 'two cards' : 'two key sets', aid, {
        kind,
        seq: received.seq,
        known: encodeSigned(before.signed),
        other: encodeSigned(received.signed),
        at: now,
      })
    }
    return received
  }

  #quarantine(tx: Tx, aid: Aid, fork: PeerFork): void {
    const { store, log } = this.#options
    log.warn({ aid, kind: fork.kind, seq: fork.seq }, 'peer contradicts itself and is put in quarantine')
    this.#table.quarantine(tx, aid, fork)
    // once more on its own: the caller may let the error end its transaction, and the proof must outlive that
    store
      .write((own) => this.#table.quarantine(own, aid, fork))
      .catch((error: unknown) => log.error({ err: error, aid }, 'the proof of a fork could not be stored'))
  }
}

class Contradiction extends AnetError {
  readonly fork: PeerFork

  constructor(what: string, aid: Aid, fork: PeerFork) {
    super('fork', `The agent ${aid} has signed ${what} that contradict each other.`, {
      remedy: 'Nothing is accepted from it until you choose which one to believe.',
    })
    this.fork = fork
  }
}

function rollback(what: string, aid: Aid): AnetError {
  return new AnetError('rollback', `The hub shows ${what} of ${aid} than this node has seen.`, {
    remedy: 'Try again. If it stays so, the hub was set back or is hiding something.',
  })
}

function isSame(known: KeyHistory, received: KeyHistory): boolean {
  return known.length === received.length && known.every((signed, at) => isSameValue(signed, received[at]))
}

function isSameValue(a: Signed, b: Signed | undefined): boolean {
  return b !== undefined && a.t === b.t && equalBytes(a.v, b.v)
}
