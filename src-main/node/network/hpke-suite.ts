import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import { Aes256Gcm, CipherSuite, HkdfSha256 } from '@hpke/core'
import { Dhkem, KemId, XCurveDhkemPrimitives } from '@hpke/common'
import { largeBytes } from './large-crypto.ts'
import { x25519 } from './x25519.ts'

const keyBytes = 32
const hashBytes = 32
const tagBytes = 16

type Bytes = ArrayBufferLike | ArrayBufferView

/**
 * HKDF-SHA256 (RFC 5869) on this thread. A message costs a dozen such steps of a few microseconds; WebCrypto makes a trip
 * through the thread pool of each, behind whatever else the event loop has to do meanwhile.
 */
class Hkdf extends HkdfSha256 {
  override async extract(salt: Bytes, ikm: Bytes): Promise<ArrayBuffer> {
    const key = view(salt)
    return whole(hmac(key.byteLength === 0 ? new Uint8Array(hashBytes) : key, view(ikm)))
  }

  override async expand(prk: Bytes, info: Bytes, length: number): Promise<ArrayBuffer> {
    if (length > 255 * hashBytes) throw new RangeError('HKDF gives no more than 255 blocks.')
    const key = view(prk)
    const made = new Uint8Array(length)
    let block = new Uint8Array(0)
    for (let from = 0, counter = 1; from < length; from += hashBytes, counter += 1) {
      block = new Uint8Array(hmac(key, block, view(info), Uint8Array.of(counter)))
      made.set(block.subarray(0, length - from), from)
    }
    return made.buffer
  }

  override async extractAndExpand(salt: Bytes, ikm: Bytes, info: Bytes, length: number): Promise<ArrayBuffer> {
    return await this.expand(await this.extract(salt, ikm), info, length)
  }
}

/** AES-256-GCM on this thread, except for what is large: that leaves the main thread (WebCrypto). */
class Gcm extends Aes256Gcm {
  override createEncryptionContext(key: Bytes): ReturnType<Aes256Gcm['createEncryptionContext']> {
    const small = view(key).slice()
    const large = super.createEncryptionContext(small)
    return {
      async seal(iv, data, aad) {
        if (data.byteLength > largeBytes) return await large.seal(iv, data, aad)
        const cipher = createCipheriv('aes-256-gcm', small, view(iv), { authTagLength: tagBytes })
        cipher.setAAD(view(aad))
        return whole(Buffer.concat([cipher.update(view(data)), cipher.final(), cipher.getAuthTag()]))
      },
      async open(iv, data, aad) {
        if (data.byteLength > largeBytes) return await large.open(iv, data, aad)
        const sealed = view(data)
        const end = sealed.byteLength - tagBytes
        if (end < 0) throw new RangeError('There is no room for the tag of AES-GCM.')
        const decipher = createDecipheriv('aes-256-gcm', small, view(iv), { authTagLength: tagBytes })
        decipher.setAAD(view(aad))
        decipher.setAuthTag(sealed.subarray(end))
        return whole(Buffer.concat([decipher.update(sealed.subarray(0, end)), decipher.final()]))
      },
    }
  }
}

class X25519Kem extends Dhkem {
  override readonly secretSize = hashBytes
  override readonly encSize = keyBytes
  override readonly publicKeySize = keyBytes
  override readonly privateKeySize = keyBytes

  constructor() {
    const kdf = new Hkdf()
    // of a curve the primitives use what x25519 has; the type asks for all that the library's own curves offer
    const curve = x25519 as unknown as ConstructorParameters<typeof XCurveDhkemPrimitives>[2]
    super(KemId.DhkemX25519HkdfSha256, new XCurveDhkemPrimitives('X25519', keyBytes, curve, kdf), kdf)
  }
}

/** DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM (RFC 9180): the protocol is the library's, its primitives are node's. */
export function createHpkeSuite(): CipherSuite {
  return new CipherSuite({ kem: new X25519Kem(), kdf: new Hkdf(), aead: new Gcm() })
}

function hmac(key: Uint8Array, ...pieces: readonly Uint8Array[]): Buffer {
  const mac = createHmac('sha256', key)
  for (const piece of pieces) mac.update(piece)
  return mac.digest()
}

function view(bytes: Bytes): Uint8Array {
  return ArrayBuffer.isView(bytes)
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : new Uint8Array(bytes)
}

/** In memory of its own: small Buffers share theirs with others. */
function whole(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer
}
