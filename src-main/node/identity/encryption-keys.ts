import { generateKeyPairSync } from 'node:crypto'
import { z } from 'zod'
import {
  bytesSchema,
  type EncryptionKey,
  limits,
  sealingSuite,
  type Signed,
  type SigningKey,
  signStatement,
  type WireCrypto,
} from '@shared/wire/index.ts'

const { rotateEvery, validFor, keepPrivateFor } = limits.keySet
const maxPublished = 8
const maxKept = 32

/** X25519 keys with their private halves (32 bytes), newest first. Times in milliseconds since 1970. */
export const encryptionKeysSchema = z
  .array(
    z.object({
      kid: z.string().regex(/^[0-9a-f]{16}$/),
      privateKey: bytesSchema.refine((key) => key.byteLength === 32, 'must have 32 bytes'),
      publicKey: bytesSchema.refine((key) => key.byteLength === 32, 'must have 32 bytes'),
      from: z.int().min(0),
      until: z.int().min(0),
    }),
  )
  .min(1)
  .max(maxKept)
export type OwnEncryptionKey = z.infer<typeof encryptionKeysSchema>[number]

/** A key valid from now on for 14 days. Its id is the beginning of the SHA-256 of the public half. */
export function newEncryptionKey(crypto: WireCrypto, now: number): OwnEncryptionKey {
  const pair = generateKeyPairSync('x25519')
  const { x, d } = pair.privateKey.export({ format: 'jwk' })
  if (x === undefined || d === undefined) throw new Error('the cryptographic library made an X25519 key without halves')
  const publicKey = new Uint8Array(Buffer.from(x, 'base64url'))
  return {
    kid: Buffer.from(crypto.sha256(publicKey)).toString('hex', 0, 8),
    privateKey: new Uint8Array(Buffer.from(d, 'base64url')),
    publicKey,
    from: now,
    until: now + validFor,
  }
}

/**
 * The keys as they should be at `now`: a new one once the newest is 7 days old, and no private half longer than 15
 * days after its key ended. A newest key from the future was made while the clock was wrong: senders would not use it,
 * so it gets a successor at once. Undefined if nothing changes.
 */
export function renewEncryptionKeys(
  crypto: WireCrypto,
  keys: readonly OwnEncryptionKey[],
  now: number,
): OwnEncryptionKey[] | undefined {
  const kept = keys.filter((key) => now < key.until + keepPrivateFor)
  const newest = keys[0]
  const due = newest === undefined || newest.from <= now - rotateEvery || newest.from > now + limits.message.futureSkew
  if (!due && kept.length === keys.length) return undefined
  return due ? [newEncryptionKey(crypto, now), ...kept].slice(0, maxKept) : kept
}

/** Signs the public halves that senders may use, with seq = max(last + 1, now in ms). */
export function signKeySet(
  crypto: WireCrypto,
  key: SigningKey,
  keys: readonly OwnEncryptionKey[],
  lastSeq: number,
  now: number,
): Signed {
  const published: EncryptionKey[] = keys
    .filter((candidate) => candidate.from <= now + limits.message.futureSkew && now < candidate.until)
    .slice(0, maxPublished)
    .map(({ kid, publicKey, from, until }) => ({ kid, suite: sealingSuite, key: publicKey, from, until }))
  const value = { aid: key.aid, seq: Math.max(lastSeq + 1, now), at: now, keys: published }
  return signStatement(crypto, 'key-set', value, [key])
}
