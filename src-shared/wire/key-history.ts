import { z } from 'zod'
import { AnetError } from '../errors.ts'
import { encodeCbor, equalBytes } from './cbor.ts'
import { type Aid, aidSchema, type Cid, cidOf, cidSchema } from './cid.ts'
import type { WireCrypto } from './crypto.ts'
import { limits } from './limits.ts'
import {
  bytesSchema,
  checkType,
  encodeSigned,
  readStatement,
  type Signed,
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

/**
 * Verifies a whole history from its inception: order, links, commitments and signatures. A rotation is signed by the
 * key it reveals and, unless it is an emergency rotation, by the key before. With `aid` the history must be that
 * agent's. Errors: `history_too_long`, `history_invalid`, `history_wrong_agent`, and those of the statement decoder.
 */
export function verifyHistory(crypto: WireCrypto, history: KeyHistory, aid?: Aid): VerifiedHistory {
  const size = history.reduce((sum, signed) => sum + encodeSigned(signed).byteLength, 0)
  if (history.length > limits.history.statements || size > limits.history.bytes) {
    throw new AnetError(
      'history_too_long',
      `A key history has at most ${limits.history.statements} statements and ${limits.history.bytes} bytes.`,
    )
  }
  const statements: KeyStatement[] = []
  let head: Cid | null = null
  for (const signed of history) {
    const statement = readStatement(checkType(signed, 'key-history'), keyStatementSchema, limits.history.bytes)
    verifyLink(crypto, signed, statement, statements, head)
    statements.push(statement)
    head = statementId(crypto, signed)
  }
  const first = statements[0]
  const last = statements.at(-1)
  if (first === undefined || last === undefined || head === null) throw invalid('it is empty')
  if (aid !== undefined && first.aid !== aid) {
    throw new AnetError('history_wrong_agent', `This key history belongs to ${first.aid}, not to ${aid}.`)
  }
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

function verifyLink(
  crypto: WireCrypto,
  signed: Signed,
  statement: KeyStatement,
  before: readonly KeyStatement[],
  head: Cid | null,
): void {
  const { seq, aid, key } = statement
  const previous = before.at(-1)
  if (seq !== before.length) throw invalid(`statement ${before.length} is numbered ${seq}`)
  if (!verifySignature(crypto, signed, aid, seq, key))
    throw invalid(`statement ${seq} is not signed by the key it names`)
  if ((statement.type === 'deactivation') !== (statement.next === null))
    throw invalid(`statement ${seq} has a wrong commitment`)
  if (previous === undefined) {
    const { aid: _aid, ...core } = statement
    if (statement.type !== 'inception' || statement.prev !== null) throw invalid('it does not begin with an inception')
    if (cidOf(crypto, encodeCbor(core)) !== aid) throw invalid('its AID is not that of its inception')
    return
  }
  if (statement.type === 'inception' || aid !== previous.aid || statement.prev !== head)
    throw invalid(`statement ${seq} does not follow the one before`)
  if (previous.next === null) throw invalid(`statement ${seq} follows a deactivation`)
  if (!equalBytes(crypto.sha256(key), previous.next))
    throw invalid(`statement ${seq} reveals another key than was committed to`)
  const planned = statement.type === 'rotation' && statement.emergency !== true
  if (planned && !verifySignature(crypto, signed, aid, previous.seq, previous.key)) {
    throw invalid(`rotation ${seq} is not signed by the key before`)
  }
  // the last two places stay free for an emergency rotation and a deactivation
  if (planned && seq >= limits.history.statements - limits.history.reserved)
    throw invalid(`rotation ${seq} takes a reserved place`)
}

function invalid(why: string): AnetError {
  return new AnetError('history_invalid', `This key history is not valid: ${why}.`)
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
