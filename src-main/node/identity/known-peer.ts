import { databaseDamaged } from '@shared/sql/index.ts'
import {
  type Aid,
  cardWithdrawalSchema,
  decodeCbor,
  decodeHistory,
  encodeSigned,
  type KeyHistory,
  type KeySet,
  limits,
  parseStatement,
  readKeySet,
  readNetworkCard,
  readStatement,
  type Signed,
  signedSchema,
  type VerifiedCard,
  type VerifiedHistory,
  verifyHistory,
  verifyStoredAuthor,
  type WireCrypto,
} from '@shared/wire/index.ts'
import type { Peer } from './types.ts'

/** One key of a series: the statement of a later signing key always comes after those of an earlier one. */
export interface Position {
  readonly ksn: number
  readonly seq: number
}

export interface KnownKeySet extends Position {
  readonly signed: Signed
  readonly value: KeySet
}

export interface KnownCard extends Position {
  readonly signed: Signed
  readonly bytes: Uint8Array
  /** Undefined for a withdrawal. */
  readonly value: VerifiedCard | undefined
}

/** What is stored of a peer, verified in this process. */
export interface KnownPeer {
  readonly revision: number
  readonly statements: KeyHistory
  readonly history: VerifiedHistory
  readonly keySet: KnownKeySet | undefined
  readonly card: KnownCard | undefined
  readonly forked: boolean
}

export interface PeerRow {
  readonly aid: Aid
  readonly revision: number
  readonly history: Uint8Array
  readonly keyset: Uint8Array | null
  readonly card: Uint8Array | null
  readonly forked: number
}

const maxStatementBytes = limits.card.bytes + 4096

/** Decodes and verifies a stored row: stored is not the same as true. What does not hold is `database_damaged`. */
export function verifyRow(crypto: WireCrypto, row: PeerRow): KnownPeer {
  try {
    const statements = decodeHistory(row.history)
    const history = verifyHistory(crypto, statements, row.aid)
    const keySet = row.keyset === null ? undefined : knownKeySet(decodeStored(row.keyset))
    if (keySet !== undefined) verifyStoredAuthor(crypto, keySet.signed, keySet.value.aid, history)
    const card = row.card === null ? undefined : knownCard(decodeStored(row.card))
    if (card !== undefined) verifyStoredAuthor(crypto, card.signed, authorOf(card), history)
    return { revision: row.revision, statements, history, keySet, card, forked: row.forked !== 0 }
  } catch (cause) {
    throw databaseDamaged(`What is stored of the agent ${row.aid} does not verify.`, cause)
  }
}

function decodeStored(bytes: Uint8Array): Signed {
  return parseStatement(signedSchema, decodeCbor(bytes, maxStatementBytes))
}

export function knownKeySet(signed: Signed): KnownKeySet {
  const value = readKeySet(signed)
  return { signed, value, seq: value.seq, ksn: ksnOf(signed) }
}

/** Of a card or of its withdrawal. */
export function knownCard(signed: Signed): KnownCard {
  const bytes = encodeSigned(signed)
  if (signed.t === 'card-withdrawal') {
    const { seq } = readStatement(signed, cardWithdrawalSchema, limits.card.bytes)
    return { signed, bytes, value: undefined, seq, ksn: ksnOf(signed) }
  }
  const value = readNetworkCard(signed)
  return { signed, bytes, value, seq: value.network.seq, ksn: ksnOf(signed) }
}

function authorOf(card: KnownCard): Aid {
  return card.value?.network.aid ?? readStatement(card.signed, cardWithdrawalSchema, limits.card.bytes).aid
}

function ksnOf(signed: Signed): number {
  return signed.sigs[0]?.ksn ?? 0
}

/** The peer as others see it at `now`: an expired or withdrawn card is none. */
export function peerView(known: KnownPeer, now: number): Peer {
  const value = known.card?.value
  const isValid = value !== undefined && now < value.network.exp
  return {
    aid: known.history.aid,
    history: known.history,
    card: isValid ? value : undefined,
    cardBytes: isValid ? known.card?.bytes : undefined,
    // fresh needs a recent head statement of the pinned hub
    keyState: 'stale',
    forked: known.forked,
  }
}
