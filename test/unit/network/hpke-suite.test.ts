import { Aes256Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from '@hpke/core'
import { describe, expect, it } from 'vitest'
import { createHpkeSuite } from '../../../src-main/node/network/hpke-suite.ts'
import { largeBytes } from '../../../src-main/node/network/large-crypto.ts'
import { x25519 } from '../../../src-main/node/network/x25519.ts'

const ours = createHpkeSuite()
const library = new CipherSuite({ kem: new DhkemX25519HkdfSha256(), kdf: new HkdfSha256(), aead: new Aes256Gcm() })
const info = memory(Buffer.from('anet test'))

function memory(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer
}

function hex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'hex'))
}

async function recipient(): Promise<{ privateKey: ArrayBuffer; publicKey: ArrayBuffer }> {
  const { privateKey, publicKey } = await library.kem.generateKeyPair()
  return {
    privateKey: await library.kem.serializePrivateKey(privateKey),
    publicKey: await library.kem.serializePublicKey(publicKey),
  }
}

async function sealWith(suite: CipherSuite, publicKey: ArrayBuffer, plaintext: ArrayBuffer) {
  return await suite.seal({ recipientPublicKey: await suite.kem.deserializePublicKey(publicKey), info }, plaintext)
}

async function openWith(suite: CipherSuite, privateKey: ArrayBuffer, sealed: { enc: ArrayBuffer; ct: ArrayBuffer }) {
  const recipientKey = await suite.kem.deserializePrivateKey(privateKey)
  return Buffer.from(await suite.open({ recipientKey, enc: sealed.enc, info }, sealed.ct))
}

describe('the HPKE suite on node:crypto', () => {
  it.each([0, 1, 4096, largeBytes, largeBytes + 1])(
    'understands the library and is understood, %i bytes',
    async (size) => {
      const { privateKey, publicKey } = await recipient()
      const plaintext = Buffer.alloc(size, 'x')
      const bySuite = await sealWith(ours, publicKey, memory(plaintext))
      const byLibrary = await sealWith(library, publicKey, memory(plaintext))
      expect((await openWith(library, privateKey, bySuite)).equals(plaintext)).toBe(true)
      expect((await openWith(ours, privateKey, byLibrary)).equals(plaintext)).toBe(true)
      expect((await openWith(ours, privateKey, bySuite)).equals(plaintext)).toBe(true)
    },
  )

  it('derives the same pair from the same input as the library', async () => {
    const input = memory(Buffer.alloc(32, 7))
    const [mine, theirs] = await Promise.all([ours.kem.deriveKeyPair(input), library.kem.deriveKeyPair(input)])
    const [myKey, theirKey] = await Promise.all([
      ours.kem.serializePublicKey(mine.publicKey),
      library.kem.serializePublicKey(theirs.publicKey),
    ])
    expect(Buffer.from(myKey).equals(Buffer.from(theirKey))).toBe(true)
  })

  it('seals the same plaintext differently each time', async () => {
    const { publicKey } = await recipient()
    const plaintext = memory(Buffer.from('the same'))
    const [first, second] = [await sealWith(ours, publicKey, plaintext), await sealWith(ours, publicKey, plaintext)]
    expect(Buffer.from(first.enc).equals(Buffer.from(second.enc))).toBe(false)
    expect(Buffer.from(first.ct).equals(Buffer.from(second.ct))).toBe(false)
  })

  it('opens nothing that was altered, cut short, or sealed to somebody else', async () => {
    const { privateKey, publicKey } = await recipient()
    const sealed = await sealWith(ours, publicKey, memory(Buffer.from('a secret of sixteen bytes and more')))
    for (let at = 0; at < sealed.ct.byteLength; at += 7) {
      const ct = sealed.ct.slice(0)
      new Uint8Array(ct).set([(new Uint8Array(ct)[at] ?? 0) ^ 1], at)
      await expect(openWith(ours, privateKey, { enc: sealed.enc, ct })).rejects.toThrow()
    }
    for (const length of [0, 15, 16, sealed.ct.byteLength - 1]) {
      const ct = sealed.ct.slice(0, length)
      await expect(openWith(ours, privateKey, { enc: sealed.enc, ct })).rejects.toThrow()
    }
    const other = await recipient()
    await expect(openWith(ours, other.privateKey, sealed)).rejects.toThrow()
    const enc = memory(Buffer.alloc(32))
    await expect(openWith(ours, privateKey, { enc, ct: sealed.ct })).rejects.toThrow()
  })

  it('does not seal to a public key of low order', async () => {
    await expect(sealWith(ours, memory(Buffer.alloc(32)), memory(Buffer.from('x')))).rejects.toThrow()
  })

  it('computes X25519 as RFC 7748 does (section 6.1)', () => {
    const alice = hex('77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a')
    const bob = hex('5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb')
    const bobPublic = x25519.getPublicKey(bob)
    expect(bobPublic).toEqual(hex('de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f'))
    const shared = hex('4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742')
    expect(x25519.getSharedSecret(alice, bobPublic)).toEqual(shared)
    expect(x25519.getSharedSecret(bob, x25519.getPublicKey(alice))).toEqual(shared)
  })
})
