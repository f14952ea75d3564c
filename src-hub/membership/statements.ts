import {
  cardWithdrawalSchema,
  checkType,
  compareHistories,
  decodeSigned,
  encodeSigned,
  equalBytes,
  type KeyHistory,
  limits,
  readStatement,
  type Signed,
  verifyAuthor,
  type VerifiedHistory,
  verifyHistory,
  verifyKeySet,
  verifyNetworkCard,
} from '@shared/wire/index.ts'
import { crypto } from '../crypto.ts'
import { HubError } from '../errors.ts'
import type { CardIndex, Fork, MemberRecord, MemberWrite, StoredCard } from '../store/index.ts'
import { cardIndex, emptyIndex } from './card-index.ts'

export interface GivenStatements {
  readonly history?: KeyHistory
  readonly keyset?: Signed
  readonly card?: Signed
  readonly withdrawal?: Signed
}

export type Merged = Omit<MemberWrite, 'state'>

/** A statement that cannot follow what the hub has. A fork carries its proof. */
export class Contradiction extends HubError {
  readonly fork: Fork | undefined

  constructor(code: 'rollback' | 'fork', message: string, fork?: Fork) {
    super(code, message)
    this.fork = fork
  }
}

/** Decodes stored history bytes and verifies them again: stored is not the same as true. */
function storedHistory(record: MemberRecord): { history: KeyHistory; verified: VerifiedHistory } {
  const history = record.history.map((bytes) => decodeSigned(bytes, 'key-history', limits.history.bytes))
  return { history, verified: verifyHistory(crypto, history, record.aid) }
}

/**
 * What the hub has of an agent after `given`. High-water rule (spec/network.md): a history only extends the known one;
 * of key set and card a lower seq is `rollback`, an equal one with other bytes `fork`, a higher one is verified against
 * the history and replaces. Errors: {@link Contradiction} and those of the verifiers of src-shared.
 */
export function mergeStatements(
  known: MemberRecord | undefined,
  given: GivenStatements & { history: KeyHistory; keyset: Signed },
  now: number,
): Merged
export function mergeStatements(known: MemberRecord, given: GivenStatements, now: number): Merged
export function mergeStatements(known: MemberRecord | undefined, given: GivenStatements, now: number): Merged {
  const { bytes, verified } = mergeHistory(known, given.history, now)
  let keyset = known?.keyset
  if (given.keyset !== undefined) {
    const { seq } = verifyKeySet(crypto, given.keyset, verified)
    keyset = newer('keyset', verified.aid, now, keyset, { seq, bytes: encodeSigned(given.keyset) })
  }
  if (keyset === undefined) throw new HubError('bad_request', 'An agent joins with its key set.')

  let card = known?.card
  let index: CardIndex | undefined
  if (given.card !== undefined) {
    const { network, card: agentCard } = verifyNetworkCard(crypto, given.card, verified, now)
    const stored: StoredCard = {
      kind: 'card',
      seq: network.seq,
      bytes: encodeSigned(given.card),
      exp: network.exp,
      ksn: verified.seq,
    }
    card = newer('card', verified.aid, now, card, stored)
    index = cardIndex(agentCard)
  }
  if (given.withdrawal !== undefined) {
    const statement = checkType(given.withdrawal, 'card-withdrawal')
    const { aid, seq } = readStatement(statement, cardWithdrawalSchema, limits.card.bytes)
    verifyAuthor(crypto, statement, aid, verified)
    card = newer('card', verified.aid, now, card, { kind: 'withdrawal', seq, bytes: encodeSigned(statement) })
    index = emptyIndex
  }
  return { aid: verified.aid, ksn: verified.seq, key: verified.key, history: bytes, keyset, card, index }
}

function mergeHistory(
  known: MemberRecord | undefined,
  given: KeyHistory | undefined,
  now: number,
): { bytes: readonly Uint8Array[]; verified: VerifiedHistory } {
  if (given === undefined) {
    if (known === undefined) throw new HubError('bad_request', 'An agent joins with its key history.')
    return { bytes: known.history, verified: storedHistory(known).verified }
  }
  const verified = verifyHistory(crypto, given, known?.aid)
  const bytes = given.map(encodeSigned)
  if (known === undefined) return { bytes, verified }
  const stored = storedHistory(known)
  switch (compareHistories(crypto, stored.history, given)) {
    case 'same':
      return { bytes: known.history, verified: stored.verified }
    case 'extension':
      return { bytes, verified }
    case 'older':
      throw new Contradiction('rollback', 'The hub has a longer key history of this agent.')
    case 'fork': {
      const seq = given.findIndex((signed, at) => !equalBytes(signed.v, stored.history[at]?.v ?? new Uint8Array()))
      throw new Contradiction('fork', `This key history contradicts the one the hub has, from statement ${seq} on.`, {
        aid: known.aid,
        kind: 'history',
        seq,
        at: now,
        known: known.history[seq] ?? new Uint8Array(),
        other: bytes[seq] ?? new Uint8Array(),
      })
    }
  }
}

function newer<S extends { readonly seq: number; readonly bytes: Uint8Array }>(
  kind: 'keyset' | 'card',
  aid: string,
  at: number,
  known: S | undefined,
  given: S,
): S {
  if (known === undefined || given.seq > known.seq) return given
  const name = kind === 'keyset' ? 'key set' : 'card'
  if (given.seq < known.seq) {
    throw new Contradiction('rollback', `The hub has a newer ${name} of this agent (${known.seq}, not ${given.seq}).`)
  }
  if (equalBytes(given.bytes, known.bytes)) return known
  throw new Contradiction('fork', `The hub has another ${name} of this agent with the number ${given.seq}.`, {
    aid,
    kind,
    seq: given.seq,
    at,
    known: known.bytes,
    other: given.bytes,
  })
}
