import { z } from 'zod'
import { AnetError } from '../errors.ts'
import { aidSchema } from './cid.ts'
import type { WireCrypto } from './crypto.ts'
import type { VerifiedHistory } from './key-history.ts'
import { limits } from './limits.ts'
import { bytesSchema, checkType, readStatement, type Signed, verifySignature } from './signed.ts'

/** HPKE: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM (RFC 9180), base mode. */
export const sealingSuite = 'x25519-sha256-aes256gcm'

/** Encryption keys of an agent, newest first. A sender takes the first one that is valid at its own time. */
export const keySetSchema = z.object({
  aid: aidSchema,
  /** Strictly increasing: max(last + 1, now in ms). Lower is a rollback, equal with other bytes a fork. */
  seq: z.int().min(0),
  at: z.int().min(0),
  keys: z
    .array(
      z.object({
        kid: z.string().regex(/^[0-9a-f]{16}$/),
        suite: z.literal(sealingSuite),
        key: bytesSchema.refine((key) => key.byteLength === 32, 'an X25519 key has 32 bytes'),
        from: z.int().min(0),
        until: z.int().min(0),
      }),
    )
    .min(1)
    .max(8),
})
export type KeySet = z.infer<typeof keySetSchema>
export type EncryptionKey = KeySet['keys'][number]

/**
 * Verifies that a statement of type `key-set` or `card` was signed by the key in use of the agent that was asked for.
 * Errors: `statement_wrong_author`, `statement_bad_signature`.
 */
export function verifyAuthor(crypto: WireCrypto, signed: Signed, author: string, history: VerifiedHistory): void {
  if (author !== history.aid)
    throw new AnetError('statement_wrong_author', `This statement is of ${author}, not of ${history.aid}.`)
  if (history.key === null || !verifySignature(crypto, signed, history.aid, history.seq, history.key)) {
    throw new AnetError('statement_bad_signature', 'This statement is not signed by the key in use of its author.')
  }
}

/**
 * The same for a statement that was verified and stored earlier: it may be signed by a key that has been replaced
 * since. Never for what arrives: there an older key counts for nothing (spec/network.md, Identity).
 */
export function verifyStoredAuthor(crypto: WireCrypto, signed: Signed, author: string, history: VerifiedHistory): void {
  const ksn = signed.sigs[0]?.ksn
  const key = ksn === undefined ? undefined : history.keyOf(ksn)
  if (
    ksn === undefined ||
    key === undefined ||
    author !== history.aid ||
    !verifySignature(crypto, signed, author, ksn, key)
  ) {
    throw new AnetError('statement_bad_signature', 'This statement is not signed by a key of its author.')
  }
}

/** Reads a key set without checking who signed it. Errors: `key_set_invalid`, and those of the statement decoder. */
export function readKeySet(signed: Signed): KeySet {
  const keySet = readStatement(checkType(signed, 'key-set'), keySetSchema, limits.keySet.bytes)
  const kids = new Set(keySet.keys.map((key) => key.kid))
  const fits = keySet.keys.every(({ from, until }) => from < until && until - from <= limits.keySet.validFor)
  if (kids.size !== keySet.keys.length || !fits) {
    throw new AnetError('key_set_invalid', 'This key set names a key twice, or one that is valid longer than 14 days.')
  }
  return keySet
}

/** Errors: those of {@link readKeySet} and {@link verifyAuthor}. */
export function verifyKeySet(crypto: WireCrypto, signed: Signed, history: VerifiedHistory): KeySet {
  const keySet = readKeySet(signed)
  verifyAuthor(crypto, signed, keySet.aid, history)
  return keySet
}

/** The key to seal to at `now` (milliseconds since 1970), or undefined if none is valid any more. */
export function encryptionKeyAt(keySet: KeySet, now: number): EncryptionKey | undefined {
  return keySet.keys.find((key) => key.from <= now + limits.message.futureSkew && now < key.until)
}
