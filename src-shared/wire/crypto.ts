/**
 * What the wire formats need of a cryptographic library. node:crypto backs it in the node and in the hub; src-shared
 * itself stays free of both Node and the DOM.
 */
export interface WireCrypto {
  sha256(data: Uint8Array): Uint8Array
  /** Ed25519, RFC 8032. `privateKey` is the 32-byte seed. */
  ed25519Sign(privateKey: Uint8Array, data: Uint8Array): Uint8Array
  /** False for a bad signature and for a key that is not a 32-byte Ed25519 public key. */
  ed25519Verify(publicKey: Uint8Array, data: Uint8Array, signature: Uint8Array): boolean
  ed25519PublicKey(privateKey: Uint8Array): Uint8Array
  randomBytes(length: number): Uint8Array
}

interface NodeKey {
  export(options: { format: 'der'; type: 'spki' }): Uint8Array
}

/** The part of `node:crypto` that {@link wireCrypto} uses; the module itself fits. */
export interface NodeCrypto {
  createHash(algorithm: string): { update(data: Uint8Array): { digest(): Uint8Array } }
  createPrivateKey(input: { key: Uint8Array; format: 'der'; type: 'pkcs8' }): object
  createPublicKey(input: unknown): object
  sign(algorithm: null, data: Uint8Array, key: never): Uint8Array
  verify(algorithm: null, data: Uint8Array, key: never, signature: Uint8Array): boolean
  randomBytes(length: number): Uint8Array
}

// DER headers of RFC 8410; the raw 32 bytes of the key follow
const pkcs8Header = Uint8Array.from([
  0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
])
const spkiHeader = Uint8Array.from([0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00])
const cachedKeys = 1024

/**
 * {@link WireCrypto} over `node:crypto`, for node and hub alike. Parsed keys are kept, since parsing costs more than
 * signing: public keys by their bytes, private keys by the identity of the array that holds them, so that no copy of
 * a seed is made and its key goes when the array goes. An array that was used as a private key may not change.
 */
export function wireCrypto(node: unknown): WireCrypto {
  // the structural type is narrower than the overloads of node:crypto, which src-shared cannot name
  const crypto = node as NodeCrypto
  const privateKeys = new WeakMap<Uint8Array, object>()
  const publicKeys = new Map<string, object>()
  const privateKeyOf = (seed: Uint8Array): never => {
    let key = privateKeys.get(seed)
    if (key === undefined) {
      key = crypto.createPrivateKey({ key: der(pkcs8Header, seed), format: 'der', type: 'pkcs8' })
      privateKeys.set(seed, key)
    }
    return key as never
  }
  const publicKeyOf = (raw: Uint8Array): never => {
    const name = String.fromCharCode(...raw)
    let key = publicKeys.get(name)
    if (key === undefined) {
      key = crypto.createPublicKey({ key: der(spkiHeader, raw), format: 'der', type: 'spki' })
      const oldest = publicKeys.size < cachedKeys ? undefined : publicKeys.keys().next().value
      if (oldest !== undefined) publicKeys.delete(oldest)
      publicKeys.set(name, key)
    }
    return key as never
  }
  return {
    sha256: (data) => bytes(crypto.createHash('sha256').update(data).digest()),
    ed25519Sign: (privateKey, data) => bytes(crypto.sign(null, data, privateKeyOf(privateKey))),
    ed25519Verify: (publicKey, data, signature) => {
      if (publicKey.byteLength !== 32 || signature.byteLength !== 64) return false
      try {
        return crypto.verify(null, data, publicKeyOf(publicKey), signature)
      } catch {
        // some libraries refuse bytes that are no point of the curve when they are parsed, others when they are used
        return false
      }
    },
    ed25519PublicKey: (privateKey) => {
      const key = crypto.createPublicKey(privateKeyOf(privateKey)) as NodeKey
      return bytes(key.export({ format: 'der', type: 'spki' })).slice(spkiHeader.byteLength)
    },
    randomBytes: (length) => bytes(crypto.randomBytes(length)),
  }
}

function der(header: Uint8Array, raw: Uint8Array): Uint8Array {
  const key = new Uint8Array(header.byteLength + raw.byteLength)
  key.set(header)
  key.set(raw, header.byteLength)
  return key
}

// a Buffer is a Uint8Array whose slice() shares memory: hand out plain arrays
function bytes(buffer: Uint8Array): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
}
