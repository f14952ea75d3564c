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

export function verifyKeySet(crypto: WireCrypto, signed: Signed, history: VerifiedHistory): KeySet {
  const keySet = readStatement(checkType(signed, 'key-set'), keySetSchema, limits.keySet.bytes)
  verifyAuthor(crypto, signed, keySet.aid, history)
  return keySet
}

/** The key to seal to at `now` (milliseconds since 1970), or undefined if none is valid any more. */
export function encryptionKeyAt(keySet: KeySet, now: number): EncryptionKey | undefined {
  return keySet.keys.find((key) => key.from <= now + limits.message.futureSkew && now < key.until)
}
