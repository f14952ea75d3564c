import { equalBytes } from '@shared/wire/index.ts'
import { z } from 'zod'
import type { Store, Tx } from '../store/index.ts'
import { readMeta, writeMeta } from './meta.ts'

const day = 24 * 60 * 60_000
const prunedKey = 'seen-pruned-until'

/**
 * The replay record: every (from, mid) that had an effect, until a day after it expired. What once was pruned counts
 * as expired for ever, whatever the clock says later: that makes the record safe against a clock that goes back.
 */
export class SeenMessages {
  readonly #store: Store
  #prunedUntil: number

  constructor(store: Store) {
    this.#store = store
    this.#prunedUntil = readMeta(store.read, prunedKey, z.int()) ?? 0
  }

  /** True if a record of a message with this expiry may have been pruned already. */
  forgotten(exp: number): boolean {
    return exp <= this.#prunedUntil
  }

  find(tx: Tx, peer: string, mid: Uint8Array, digest: Uint8Array): 'new' | 'same' | 'other_body' {
    const row = tx.get<{ digest: Uint8Array }>('SELECT digest FROM net_seen WHERE peer = ? AND mid = ?', peer, mid)
    if (row === undefined) return 'new'
    return equalBytes(row.digest, digest) ? 'same' : 'other_body'
  }

  record(tx: Tx, peer: string, mid: Uint8Array, digest: Uint8Array, exp: number): void {
    tx.run('INSERT INTO net_seen (peer, mid, digest, exp) VALUES (?, ?, ?, ?)', peer, mid, digest, exp)
  }

  async prune(now: number): Promise<void> {
    const before = now - day
    const pruned = await this.#store.write((tx) => {
      const newest = tx.get<{ exp: number | null }>('SELECT max(exp) AS exp FROM net_seen WHERE exp < ?', before)?.exp
      if (newest === null || newest === undefined) return undefined
      tx.run('DELETE FROM net_seen WHERE exp < ?', before)
      const until = Math.max(newest, this.#prunedUntil)
      writeMeta(tx, prunedKey, until)
      return until
    })
    if (pruned !== undefined) this.#prunedUntil = pruned
  }
}
