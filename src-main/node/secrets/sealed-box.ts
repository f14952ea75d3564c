import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { bytesSchema, encodeCbor } from '@shared/wire/index.ts'

/** AES-256-GCM: a 12-byte nonce, and the ciphertext with its 16-byte tag at the end. */
export const sealedBoxSchema = z.object({
  iv: bytesSchema.refine((iv) => iv.byteLength === 12, 'must have 12 bytes'),
  ct: bytesSchema.refine((ct) => ct.byteLength >= 16, 'must have a tag'),
})
export type SealedBox = z.infer<typeof sealedBoxSchema>

const tagBytes = 16

/** Seals under a 32-byte key. `place` names what it is and where it belongs: it opens nowhere else. */
export function sealBox(key: Uint8Array, place: readonly string[], plaintext: Uint8Array): SealedBox {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(encodeCbor(place))
  const ct = Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
  return { iv: new Uint8Array(iv), ct: new Uint8Array(ct) }
}

/** Undefined if the key, the place or the bytes are not those of the seal. */
export function openBox(key: Uint8Array, place: readonly string[], box: SealedBox): Uint8Array | undefined {
  const decipher = createDecipheriv('aes-256-gcm', key, box.iv).setAAD(encodeCbor(place))
  decipher.setAuthTag(box.ct.subarray(-tagBytes))
  try {
    return new Uint8Array(Buffer.concat([decipher.update(box.ct.subarray(0, -tagBytes)), decipher.final()]))
  } catch {
    return undefined
  }
}
