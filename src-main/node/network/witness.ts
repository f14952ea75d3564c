import { type Aid, type Cid, statementId, type WireCrypto } from '@shared/wire/index.ts'
import type { Identity } from '../identity/index.ts'
import type { Log } from '../ports.ts'
import type { Store, Tx } from '../store/index.ts'
import type { Alarm } from './types.ts'

/** Older ones go. */
const kept = 100

/**
 * Every message names the head of this node's key history that its sender holds. A head that this node never made
 * means that somebody else extended its history, or that this node was restored to an older state.
 */
export class Witness {
  readonly #store: Store
  readonly #identity: Identity
  readonly #crypto: WireCrypto
  readonly #log: Log
  #own: { head: Cid; heads: ReadonlySet<Cid> } | undefined

  constructor(parts: { store: Store; identity: Identity; crypto: WireCrypto; log: Log }) {
    this.#store = parts.store
    this.#identity = parts.identity
    this.#crypto = parts.crypto
    this.#log = parts.log
  }

  /** `witness`: who holds that head, a peer or the hub. */
  check(tx: Tx, witness: Aid, head: Cid, at: number): void {
    if (this.#ownHeads().has(head)) return
    // one alarm per witness: whoever invents heads must fill neither log nor evidence
    const { changes } = tx.run(
      'INSERT INTO net_alarms (code, witness, head, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
      'own_history_unknown_head',
      witness,
      head,
      at,
    )
    if (changes === 0) return
    tx.run('DELETE FROM net_alarms WHERE rowid <= (SELECT max(rowid) FROM net_alarms) - ?', kept)
    this.#store.evidence.append(tx, 'identity.alarm', { code: 'own_history_unknown_head', witness, head })
    tx.afterCommit(() =>
      this.#log.error({ witness, head }, 'somebody holds a key history of this agent that this node did not make'),
    )
  }

  alarms(): readonly Alarm[] {
    return this.#store.read.all<Alarm>('SELECT code, witness, head, at FROM net_alarms ORDER BY rowid DESC')
  }

  #ownHeads(): ReadonlySet<Cid> {
    const { head, history } = this.#identity
    if (this.#own?.head !== head) {
      this.#own = { head, heads: new Set(history.map((statement) => statementId(this.#crypto, statement))) }
    }
    return this.#own.heads
  }
}
