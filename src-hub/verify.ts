import { createPublicKey, type KeyObject, verify } from 'node:crypto'

// DER header of an Ed25519 public key (RFC 8410); the raw 32 bytes follow
const spkiHeader = Buffer.from('302a300506032b6570032100', 'hex')
const keptKeys = 10_000

const keys = new Map<string, KeyObject>()

/**
 * Checks an Ed25519 signature on a thread of its own: it takes longer than all the rest of a request. Parsed keys are
 * kept. False for a wrong signature and for a key that is none.
 */
export function verifyOffThread(publicKey: Uint8Array, data: Uint8Array, signature: Uint8Array): Promise<boolean> {
  if (publicKey.byteLength !== 32 || signature.byteLength !== 64) return Promise.resolve(false)
  return new Promise((resolve, reject) => {
    const key = parsedKey(publicKey)
    if (key === undefined) resolve(false)
    else verify(null, data, key, signature, (error, valid) => (error ? reject(error) : resolve(valid)))
  })
}

function parsedKey(publicKey: Uint8Array): KeyObject | undefined {
  const name = Buffer.from(publicKey.buffer, publicKey.byteOffset, publicKey.byteLength).toString('latin1')
  let key = keys.get(name)
  if (key === undefined) {
    try {
      key = createPublicKey({ key: Buffer.concat([spkiHeader, publicKey]), format: 'der', type: 'spki' })
    } catch {
      return undefined
    }
    const oldest = keys.size >= keptKeys ? keys.keys().next().value : undefined
    if (oldest !== undefined) keys.delete(oldest)
    keys.set(name, key)
  }
  return key
}
