import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomFillSync,
} from 'node:crypto'
import { databaseDamaged } from '@shared/sql/index.ts'

/** First byte of everything sealed: AES-256-GCM, 12-byte nonce, 16-byte tag. */
export const sealFormat = 1
export const nonceBytes = 12
const tagBytes = 16
/** What a seal adds to the plaintext. */
export const sealOverhead = 1 + nonceBytes + tagBytes

/** Key for one purpose (HKDF-SHA256, RFC 5869); two labels give unrelated keys. */
export function deriveKey(wrappingKey: Uint8Array, label: string): KeyObject {
  if (wrappingKey.byteLength !== 32) throw new RangeError('The wrapping key has 32 bytes.')
  const key = new Uint8Array(hkdfSync('sha256', wrappingKey, new Uint8Array(0), label, 32))
  const secret = createSecretKey(key)
  key.fill(0)
  return secret
}

/** AES-256-GCM with a random nonce. `bound` is authenticated and not stored: whoever opens must know it. */
export function seal(key: KeyObject, bound: string, plaintext: Uint8Array): Uint8Array {
  const sealed = new Uint8Array(plaintext.byteLength + sealOverhead)
  sealed[0] = sealFormat
  const nonce = sealed.subarray(1, 1 + nonceBytes)
  randomFillSync(nonce)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(Buffer.from(bound))
  sealed.set(cipher.update(plaintext), 1 + nonceBytes)
  cipher.final()
  sealed.set(cipher.getAuthTag(), sealed.byteLength - tagBytes)
  return sealed
}

/** Undoes {@link seal}. Anything that is not exactly what was sealed there is `database_damaged`. */
export function unseal(key: KeyObject, bound: string, sealed: Uint8Array): Uint8Array {
  if (sealed.byteLength < sealOverhead || sealed[0] !== sealFormat) throw sealBroken(bound)
  const end = sealed.byteLength - tagBytes
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, 1 + nonceBytes), {
    authTagLength: tagBytes,
  })
  decipher.setAAD(Buffer.from(bound))
  decipher.setAuthTag(sealed.subarray(end))
  const plaintext = decipher.update(sealed.subarray(1 + nonceBytes, end))
  try {
    decipher.final()
  } catch (cause) {
    throw sealBroken(bound, cause)
  }
  return plaintext
}

function sealBroken(bound: string, cause?: unknown): Error {
  return databaseDamaged(`Stored content does not open (${bound}).`, cause)
}
