import { z } from 'zod'
import {
  aidSchema,
  bytesSchema,
  createInception,
  decodeCbor,
  encodeCbor,
  equalBytes,
  limits,
  parseStatement,
  signedSchema,
  verifyHistory,
  verifyKeySet,
  type Aid,
  type KeyHistory,
  type Signed,
  type WireCrypto,
} from '@shared/wire/index.ts'
import { keyFileDamaged, nextKeySeed } from '../secrets/index.ts'
import { encryptionKeysSchema, newEncryptionKey, signKeySet } from './encryption-keys.ts'

const maxBytes = 256 * 1024

/**
 * Everything that only this node may know, and what it published last: sealed in the key file as one piece, so that a
 * private key, the set that names it and the history that stands behind it cannot fall apart. The next key is not
 * here: it comes from the recovery phrase, and the history holds its commitment.
 */
const keyMaterialSchema = z.object({
  version: z.literal(1),
  aid: aidSchema,
  signing: z.object({
    ksn: z
      .int()
      .min(0)
      .max(limits.history.statements - 1),
    /** Ed25519 seed. */
    seed: bytesSchema.refine((seed) => seed.byteLength === 32, 'must have 32 bytes'),
  }),
  history: z.array(signedSchema).min(1).max(limits.history.statements),
  keySet: signedSchema,
  encryption: encryptionKeysSchema,
})
export type KeyMaterial = Omit<z.infer<typeof keyMaterialSchema>, 'history' | 'keySet'> & {
  readonly history: KeyHistory
  readonly keySet: Signed
}

/** Makes a new identity: a random first key, the commitment to next key 1 of the phrase, a first encryption key. */
export function createKeyMaterial(
  crypto: WireCrypto,
  phraseSeed: Uint8Array,
  now: number,
): { readonly aid: Aid; readonly keys: Uint8Array } {
  const seed = crypto.randomBytes(32)
  const { aid, statement } = createInception(crypto, {
    privateKey: seed,
    nextCommitment: nextKeyCommitment(crypto, phraseSeed, 1),
    at: now,
  })
  const encryption = [newEncryptionKey(crypto, now)]
  const signing = { aid, ksn: 0, privateKey: seed }
  const keySet = signKeySet(crypto, signing, encryption, -1, now)
  return {
    aid,
    keys: encodeKeyMaterial({ version: 1, aid, signing: { ksn: 0, seed }, history: [statement], keySet, encryption }),
  }
}

/** SHA-256 of the public key that statement `n` of the history has to reveal. */
function nextKeyCommitment(crypto: WireCrypto, phraseSeed: Uint8Array, n: number): Uint8Array {
  return crypto.sha256(crypto.ed25519PublicKey(nextKeySeed(phraseSeed, n)))
}

export function encodeKeyMaterial(material: KeyMaterial): Uint8Array {
  return encodeCbor(material)
}

/** Reads and checks what the key file held: keys, history and key set must belong together. Else `key_file_damaged`. */
export function decodeKeyMaterial(crypto: WireCrypto, bytes: Uint8Array, aid: Aid): KeyMaterial {
  try {
    const material = parseStatement(keyMaterialSchema, decodeCbor(bytes, maxBytes))
    const history = verifyHistory(crypto, material.history, aid)
    const publicKey = crypto.ed25519PublicKey(material.signing.seed)
    if (history.seq !== material.signing.ksn || history.key === null || !equalBytes(history.key, publicKey)) {
      throw keyFileDamaged('the signing key is not the one in use in the key history.')
    }
    verifyKeySet(crypto, material.keySet, history)
    return material
  } catch (cause) {
    throw keyFileDamaged('what it holds does not fit together.', cause)
  }
}
