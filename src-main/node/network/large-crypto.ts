import { createPrivateKey, createPublicKey, sign, verify, webcrypto } from 'node:crypto'

/** From here on the operation leaves the main thread: 64 MiB would stop it for a fifth of a second and more. */
export const largeBytes = 1024 * 1024

// DER headers of RFC 8410; the raw 32 bytes of the key follow
const pkcs8Header = Buffer.from('302e020100300506032b657004220420', 'hex')
const spkiHeader = Buffer.from('302a300506032b6570032100', 'hex')

/** Ed25519 (RFC 8032) in the thread pool. `seed` is the 32-byte private key. */
export async function signLarge(seed: Uint8Array, data: Uint8Array): Promise<Uint8Array> {
  const key = createPrivateKey({ key: Buffer.concat([pkcs8Header, seed]), format: 'der', type: 'pkcs8' })
  const signature = await new Promise<Buffer>((resolve, reject) => {
    sign(null, data, key, (error, made) => (error === null ? resolve(made) : reject(error)))
  })
  return new Uint8Array(signature)
}

/** False for a bad signature and for a key that is none. */
export async function verifyLarge(publicKey: Uint8Array, data: Uint8Array, signature: Uint8Array): Promise<boolean> {
  if (publicKey.byteLength !== 32 || signature.byteLength !== 64) return false
  try {
    const key = createPublicKey({ key: Buffer.concat([spkiHeader, publicKey]), format: 'der', type: 'spki' })
    return await new Promise<boolean>((resolve, reject) => {
      verify(null, data, key, signature, (error, valid) => (error === null ? resolve(valid) : reject(error)))
    })
  } catch {
    return false
  }
}

export async function sha256Large(data: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await webcrypto.subtle.digest('SHA-256', data))
}
