import { randomInt } from 'node:crypto'
import { type Aid, encodeHistory, encodeSigned, type WireCrypto } from '@shared/wire/index.ts'
import type { Db, Tx } from '../store/index.ts'
import { type KnownPeer, type PeerRow, verifyRow } from './known-peer.ts'
import type { PeerFork } from './types.ts'

const maxCached = 2048
const columns = 'aid, revision, history, keyset, card, forked'

/**
 * The rows of known peers, and verified copies of those used last. A copy counts only while the row has its revision:
 * so a transaction that was rolled back leaves nothing behind.
 */
export class PeerTable {
  readonly #crypto: WireCrypto
  /** Least recently used first. */
  readonly #cache = new Map<Aid, KnownPeer>()
  /** In quarantine from the moment of the proof, even while that is not stored yet. */
  readonly #contradicted = new Set<Aid>()

  constructor(crypto: WireCrypto) {
    this.#crypto = crypto
  }

  /** Errors: `database_damaged`. */
  find(db: Db, aid: Aid): KnownPeer | undefined {
    const row = db.get<{ revision: number }>('SELECT revision FROM peer_agents WHERE aid = ?', aid)
    if (row === undefined) return undefined
    const cached = this.#cached(aid, row.revision)
    if (cached !== undefined) return this.#judged(aid, cached)
    const whole = db.get<PeerRow>(`SELECT ${columns} FROM peer_agents WHERE aid = ?`, aid)
    return whole === undefined ? undefined : this.#judged(aid, this.#verified(whole))
  }

  findMany(db: Db, aids: readonly Aid[]): Map<Aid, KnownPeer> {
    const found = new Map<Aid, KnownPeer>()
    const missing: Aid[] = []
    const rows = db.all<{ aid: Aid; revision: number }>(
      'SELECT aid, revision FROM peer_agents WHERE aid IN (SELECT value FROM json_each(?))',
      JSON.stringify(aids),
    )
    for (const { aid, revision } of rows) {
      const cached = this.#cached(aid, revision)
      if (cached === undefined) missing.push(aid)
      else found.set(aid, this.#judged(aid, cached))
    }
    if (missing.length === 0) return found
    const whole = db.all<PeerRow>(
      `SELECT ${columns} FROM peer_agents WHERE aid IN (SELECT value FROM json_each(?))`,
      JSON.stringify(missing),
    )
    for (const row of whole) found.set(row.aid, this.#judged(row.aid, this.#verified(row)))
    return found
  }

  /** Stores what was verified and returns it with its new revision. */
  save(tx: Tx, aid: Aid, peer: KnownPeer, now: number): KnownPeer {
    const saved = { ...peer, revision: newRevision() }
    tx.run(
      `INSERT INTO peer_agents (aid, revision, history, keyset, card, first_seen, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (aid) DO UPDATE SET revision = excluded.revision, history = excluded.history,
         keyset = excluded.keyset, card = excluded.card, updated_at = excluded.updated_at`,
      aid,
      saved.revision,
      encodeHistory(saved.statements),
      saved.keySet === undefined ? null : encodeSigned(saved.keySet.signed),
      saved.card === undefined ? null : saved.card.bytes,
      now,
      now,
    )
    this.#keep(aid, saved)
    return saved
  }

  /** Keeps a proof and marks the peer. Repeating changes nothing. */
  quarantine(tx: Tx, aid: Aid, fork: PeerFork): void {
    this.#contradicted.add(aid)
    tx.run(
      'INSERT OR IGNORE INTO peer_forks (aid, kind, seq, known, other, at) VALUES (?, ?, ?, ?, ?, ?)',
      aid,
      fork.kind,
      fork.seq,
      fork.known,
      fork.other,
      fork.at,
    )
    tx.run('UPDATE peer_agents SET forked = 1, revision = ? WHERE aid = ? AND forked = 0', newRevision(), aid)
  }

  forks(db: Db, aid: Aid): readonly PeerFork[] {
    return db.all<PeerFork>('SELECT kind, seq, known, other, at FROM peer_forks WHERE aid = ? ORDER BY at, kind', aid)
  }

  #judged(aid: Aid, known: KnownPeer): KnownPeer {
    return !known.forked && this.#contradicted.has(aid) ? { ...known, forked: true } : known
  }

  #cached(aid: Aid, revision: number): KnownPeer | undefined {
    const cached = this.#cache.get(aid)
    if (cached?.revision !== revision) return undefined
    this.#keep(aid, cached)
    return cached
  }

  #verified(row: PeerRow): KnownPeer {
    const known = verifyRow(this.#crypto, row)
    this.#keep(row.aid, known)
    return known
  }

  #keep(aid: Aid, known: KnownPeer): void {
    this.#cache.delete(aid)
    this.#cache.set(aid, known)
    if (this.#cache.size <= maxCached) return
    const oldest = this.#cache.keys().next().value
    if (oldest !== undefined) this.#cache.delete(oldest)
  }
}

function newRevision(): number {
  return randomInt(1, 2 ** 47)
}
