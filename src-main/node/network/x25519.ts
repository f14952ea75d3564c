import { createPrivateKey, createPublicKey, diffieHellman, generateKeyPairSync, type KeyObject } from 'node:crypto'

// DER header of RFC 8410; the raw 32 bytes of the key follow
const pkcs8Header = Buffer.from('302e020100300506032b656e04220420', 'hex')

interface Pair {
  readonly privateKey: KeyObject
  readonly publicKey: Uint8Array
}

// parsing a key costs more than using it; a key goes when the array that holds it goes
const pairs = new WeakMap<Uint8Array, Pair>()
const publicKeys = new WeakMap<Uint8Array, KeyObject>()

/**
 * X25519 (RFC 7748) of `node:crypto` in the shape in which the HPKE library takes curves. Keys are raw 32 bytes; an array
 * that was used as a key may not change. `getSharedSecret` throws if the public key is of low order.
 */
export const x25519 = {
  getSharedSecret: (privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array =>
    new Uint8Array(diffieHellman({ privateKey: pairOf(privateKey).privateKey, publicKey: publicKeyOf(publicKey) })),
  getPublicKey: (privateKey: Uint8Array): Uint8Array => pairOf(privateKey).publicKey,
  utils: {
    randomSecretKey: (): Uint8Array => {
      const { privateKey } = generateKeyPairSync('x25519')
      const raw = fromBase64Url(privateKey.export({ format: 'jwk' }).d)
      pairs.set(raw, { privateKey, publicKey: publicBytes(privateKey) })
      return raw
    },
  },
}

function pairOf(raw: Uint8Array): Pair {
  let pair = pairs.get(raw)
  if (pair === undefined) {
    const privateKey = createPrivateKey({ key: Buffer.concat([pkcs8Header, raw]), format: 'der', type: 'pkcs8' })
    pair = { privateKey, publicKey: publicBytes(privateKey) }
    pairs.set(raw, pair)
  }
  return pair
}

// as JWK (RFC 8037), which node parses and writes many times faster than DER
function publicKeyOf(raw: Uint8Array): KeyObject {
  let key = publicKeys.get(raw)
  if (key === undefined) {
    const jwk = { kty: 'OKP', crv: 'X25519', x: Buffer.from(raw).toString('base64url') }
    key = createPublicKey({ key: jwk, format: 'jwk' })
    publicKeys.set(raw, key)
  }
  return key
}

function publicBytes(privateKey: KeyObject): Uint8Array {
  return fromBase64Url(createPublicKey(privateKey).export({ format: 'jwk' }).x)
}

/** In memory of its own, which the library hands on. */
function fromBase64Url(text: string | undefined): Uint8Array {
  if (text === undefined) throw new TypeError('A key has no bytes.')
  return new Uint8Array(Buffer.from(text, 'base64url'))
}
