import { z } from 'zod'
import { AnetError } from '../errors.ts'
import { decodeCbor, encodeCbor, equalBytes, parseStatement, parseValue } from './cbor.ts'
import { type Aid, aidSchema, type Cid, cidOf, cidSchema } from './cid.ts'
import type { WireCrypto } from './crypto.ts'
import { limits } from './limits.ts'
import {
  bytesSchema,
  checkType,
  encodeSigned,
  type Signed,
  signedSchema,
  signStatement,
  statementId,
  verifySignature,
} from './signed.ts'

const bytes32 = bytesSchema.refine((bytes) => bytes.byteLength === 32, 'must have 32 bytes')

export const keyStatementSchema = z.object({
  type: z.enum(['inception', 'rotation', 'deactivation']),
  aid: aidSchema,
  seq: z
    .int()
    .min(0)
    .max(limits.history.statements - 1),
  /** CID of the statement before, null at inception. */
  prev: cidSchema.nullable(),
  /** Ed25519 public key: the first one, or the one that `next` of the statement before committed to. */
  key: bytes32,
  /** SHA-256 of the next public key; null in a deactivation. */
  next: bytes32.nullable(),
  /** Milliseconds since 1970 by the author's clock; informative. */
  at: z.int().min(0),
  emergency: z.boolean().exactOptional(),
})
export type KeyStatement = z.infer<typeof keyStatementSchema>

/** A key history in order, as signed statements. Verify before use. */
export type KeyHistory = readonly Signed[]
const historySchema = z.array(signedSchema).min(1).max(limits.history.statements)
/** CBOR head of the longest list. */
const listHeadBytes = 3

export interface VerifiedHistory {
  readonly aid: Aid
  readonly statements: readonly KeyStatement[]
  /** CID of the newest statement. */
  readonly head: Cid
  /** Number of the newest statement, which is also the ksn of the key in use. */
  readonly seq: number
  /** The key in use; null once deactivated. */
  readonly key: Uint8Array | null
  readonly next: Uint8Array | null
  /** Public key by number, or undefined if the history has no such key or only revealed it to deactivate. */
  keyOf(ksn: number): Uint8Array | undefined
}

/** Makes a new identity's inception statement and its AID. `at` in milliseconds since 1970. */
export function createInception(
  crypto: WireCrypto,
  input: { privateKey: Uint8Array; nextCommitment: Uint8Array; at: number },
): { aid: Aid; statement: Signed } {
  const core = {
    type: 'inception' as const,
    seq: 0,
    prev: null,
    key: crypto.ed25519PublicKey(input.privateKey),
    next: input.nextCommitment,
    at: input.at,
  }
  const aid = cidOf(crypto, encodeCbor(core))
  return {
    aid,
    statement: signStatement(crypto, 'key-history', { ...core, aid }, [{ aid, ksn: 0, privateKey: input.privateKey }]),
  }
}

/** Storage form of a history: DAG-CBOR of the list of its signed statements. */
export function encodeHistory(history: KeyHistory): Uint8Array {
  return encodeCbor(
    history.map(({ t, v, sigs }) => ({ t, v, sigs: sigs.map(({ by, ksn, sig }) => ({ by, ksn, sig })) })),
  )
}

/** Undoes {@link encodeHistory}; nothing is verified yet. Errors: those of the statement decoder, `history_too_long`. */
export function decodeHistory(bytes: Uint8Array): KeyHistory {
  if (bytes.byteLength > limits.history.bytes + listHeadBytes) throw tooLong()
  return parseValue(historySchema, decodeCbor(bytes, limits.history.bytes + listHeadBytes))
}

/**
 * Verifies a whole history from its inception: order, links, commitments and signatures. A rotation is signed by the
 * key it reveals and, unless it is an emergency rotation, by the key before. With `aid` the history must be that
 * agent's. Errors: `history_too_long`, `history_wrong_agent`, `history_wrong_aid`, `history_wrong_order`,
 * `history_wrong_link`, `history_wrong_commitment`, `history_bad_signature`, `history_reserved_place`,
 * `history_deactivated`, `history_invalid`, and those of the statement decoder.
 */
export function verifyHistory(crypto: WireCrypto, history: KeyHistory, aid?: Aid): VerifiedHistory {
  if (history.length > limits.history.statements) throw tooLong()
  const statements: KeyStatement[] = []
  let head: Cid | null = null
  let size = 0
  for (const signed of history) {
    size += encodeSigned(signed).byteLength
    if (size > limits.history.bytes) throw tooLong()
    const value = decodeCbor(checkType(signed, 'key-history').v, limits.history.bytes)
    const statement = parseStatement(keyStatementSchema, value)
    if (aid !== undefined && statement.aid !== aid) {
      throw new AnetError('history_wrong_agent', `This key history belongs to ${statement.aid}, not to ${aid}.`)
    }
    verifyForm(statement, statements.at(-1))
    if (statement.seq === 0) verifyInception(crypto, statement, value)
    else verifyFollows(crypto, signed, statement, statements.at(-1), head)
    if (!verifySignature(crypto, signed, statement.aid, statement.seq, statement.key)) {
      throw refused('history_bad_signature', `statement ${statement.seq} is not signed by the key it names`)
    }
    verifyRoom(statement, size)
    statements.push(statement)
    head = statementId(crypto, signed)
  }
  const first = statements[0]
  const last = statements.at(-1)
  if (first === undefined || last === undefined || head === null) throw refused('history_invalid', 'it is empty')
  return {
    aid: first.aid,
    statements,
    head,
    seq: last.seq,
    key: last.type === 'deactivation' ? null : last.key,
    next: last.next,
    keyOf: (ksn) => {
      const statement = statements[ksn]
      return statement === undefined || statement.type === 'deactivation' ? undefined : statement.key
    },
  }
}

function verifyForm(statement: KeyStatement, previous: KeyStatement | undefined): void {
  const { seq, type, prev, next, emergency } = statement
  const expected = previous === undefined ? 0 : previous.seq + 1
  if (seq !== expected) throw refused('history_wrong_order', `statement ${expected} is numbered ${seq}`)
  if ((type === 'inception') !== (seq === 0) || (prev === null) !== (seq === 0)) {
    throw refused('history_wrong_order', 'it begins with its only inception, which follows nothing')
  }
  if ((type === 'deactivation') !== (next === null)) {
    throw refused('history_wrong_commitment', `statement ${seq} commits to a next key exactly unless it deactivates`)
  }
  if (emergency === true && type !== 'rotation') {
    throw refused('history_invalid', `statement ${seq} is no rotation but calls itself an emergency`)
  }
}

/** The AID covers every field of the inception but itself, those too that this version does not know. */
function verifyInception(crypto: WireCrypto, { aid }: KeyStatement, value: unknown): void {
  const { aid: _aid, ...core } = value as Record<string, unknown>
  if (cidOf(crypto, encodeCbor(core)) !== aid) {
    throw refused('history_wrong_aid', 'its AID is not that of its inception')
  }
}

function verifyFollows(
  crypto: WireCrypto,
  signed: Signed,
  statement: KeyStatement,
  previous: KeyStatement | undefined,
  head: Cid | null,
): void {
  const { seq, aid, key } = statement
  if (previous === undefined || aid !== previous.aid || statement.prev !== head) {
    throw refused('history_wrong_link', `statement ${seq} does not follow the one before`)
  }
  if (previous.next === null) throw refused('history_deactivated', `statement ${seq} follows a deactivation`)
  if (!equalBytes(crypto.sha256(key), previous.next)) {
    throw refused('history_wrong_commitment', `statement ${seq} reveals another key than was committed to`)
  }
  if (isPlanned(statement) && !verifySignature(crypto, signed, aid, previous.seq, previous.key)) {
    throw refused('history_bad_signature', `rotation ${seq} is not signed by the key before`)
  }
}

/** The last places and bytes stay free for an emergency rotation and a deactivation. */
function verifyRoom(statement: KeyStatement, size: number): void {
  const { statements, reserved, bytes, reservedBytes } = limits.history
  if (isPlanned(statement) && (statement.seq >= statements - reserved || size > bytes - reservedBytes)) {
    throw refused('history_reserved_place', `rotation ${statement.seq} takes a reserved place`)
  }
}

function isPlanned(statement: KeyStatement): boolean {
  return statement.type === 'rotation' && statement.emergency !== true
}

function refused(code: string, why: string): AnetError {
  return new AnetError(code, `This key history is not valid: ${why}.`)
}

function tooLong(): AnetError {
  const { statements, bytes } = limits.history
  return new AnetError('history_too_long', `A key history has at most ${statements} statements and ${bytes} bytes.`)
}

/** How a received history relates to the one that is stored. Both must have been verified. */
export type HistoryRelation = 'same' | 'extension' | 'older' | 'fork'

export function compareHistories(crypto: WireCrypto, stored: KeyHistory, received: KeyHistory): HistoryRelation {
  const shared = Math.min(stored.length, received.length)
  for (let seq = 0; seq < shared; seq += 1) {
    const a = stored[seq]
    const b = received[seq]
    if (a === undefined || b === undefined || statementId(crypto, a) !== statementId(crypto, b)) return 'fork'
  }
  if (received.length === stored.length) return 'same'
  return received.length > stored.length ? 'extension' : 'older'
}
