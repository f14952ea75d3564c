import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { decodeBase64Url, decodeCbor, encodeBase64Url, encodeCbor, isCid, parseStatement } from '@shared/wire/index.ts'
import { codeOf, crypto } from '../../helpers/key-holder.ts'

const schema = z.object({ a: z.int() })

describe('the CBOR decoder', () => {
  it('names what is too large, not CBOR and not canonical', () => {
    expect(codeOf(() => decodeCbor(new Uint8Array(11), 10))).toBe('statement_too_large')
    expect(codeOf(() => decodeCbor(Uint8Array.of(0xff), 10))).toBe('statement_malformed')
    expect(codeOf(() => decodeCbor(Uint8Array.of(0x18, 0x01), 10))).toBe('statement_not_canonical')
    expect(codeOf(() => decodeCbor(Uint8Array.of(0xa2, 0x61, 0x62, 1, 0x61, 0x61, 1), 10))).toBe(
      'statement_not_canonical',
    )
  })

  it.each([
    ['floats of half size', [0xf9, 0x3e, 0x00]],
    ['undefined', [0xf7]],
    ['a list of unknown length', [0x9f, 0x01, 0xff]],
    ['a map of unknown length', [0xbf, 0x61, 0x61, 0x01, 0xff]],
    ['a string in pieces', [0x7f, 0x61, 0x61, 0x61, 0x62, 0xff]],
    ['a tag that is no link', [0xc1, 0x01]],
    ['a number as key', [0xa1, 0x01, 0x01]],
    ['a key twice', [0xa2, 0x61, 0x61, 0x01, 0x61, 0x61, 0x01]],
    ['minus zero', [0xfb, 0x80, 0, 0, 0, 0, 0, 0, 0]],
  ])('calls %s not canonical', (_name, bytes) => {
    expect(codeOf(() => decodeCbor(Uint8Array.from(bytes), 100))).toBe('statement_not_canonical')
  })

  it.each([
    ['nothing', []],
    ['a head that is cut off', [0x19, 0x01]],
    ['a string that is cut off', [0x63, 0x61]],
    ['a list that is cut off', [0x82, 0x01]],
    ['an endless list that does not end', [0x9f, 0x01]],
    ['a break alone', [0xff]],
    ['a break after a key', [0xbf, 0x61, 0x61, 0xff]],
    ['a number in a string', [0x7f, 0x01, 0xff]],
    ['a reserved head', [0x1c]],
    ['a simple value in two bytes that has one', [0xf8, 0x14]],
    ['bytes after the end', [0x01, 0x01]],
  ])('calls %s malformed', (_name, bytes) => {
    expect(codeOf(() => decodeCbor(Uint8Array.from(bytes), 100))).toBe('statement_malformed')
  })

  it('throws nothing but its own errors on random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        codeOf(() => decodeCbor(bytes, 1000))
      }),
      { numRuns: 3000 },
    )
  })

  it('refuses more values than fit into a memory, without decoding them', () => {
    const lists = new Uint8Array(4_000_005).fill(0x80)
    lists.set([0x9a, 0x00, 0x3d, 0x09, 0x00])
    expect(codeOf(() => decodeCbor(lists, lists.byteLength))).toBe('statement_too_large')
    const few = Uint8Array.from([0x99, 0x00, 0x02, 0x5a, 0x00, 0x20, 0x00, 0x00, ...new Uint8Array(0x20_0000), 0x01])
    expect(codeOf(() => decodeCbor(few, few.byteLength))).toBe('statement_not_canonical')
    expect(decodeCbor(encodeCbor(few), 1e9)).toEqual(few)
  })

  it('refuses nesting on which a parser would run out of stack', () => {
    const lists = new Uint8Array(100_000).fill(0x81)
    lists[lists.length - 1] = 0
    expect(codeOf(() => decodeCbor(lists, 1_000_000))).toBe('statement_malformed')
    const deep = (depth: number): Uint8Array => Uint8Array.from([...Array<number>(depth).fill(0x81), 0])
    expect(codeOf(() => decodeCbor(deep(127), 1000))).toBeUndefined()
    expect(codeOf(() => decodeCbor(deep(200), 1000))).toBe('statement_malformed')
  })

  it('does not let a key of a map become a prototype', () => {
    const bytes = Uint8Array.from([0xa1, 0x69, ...new TextEncoder().encode('__proto__'), 0xa1, 0x61, 0x61, 1])
    const value = decodeCbor(bytes, 100) as Record<string, unknown>
    expect(Object.keys(value)).toEqual(['__proto__'])
    expect(value['a']).toBeUndefined()
    expect(codeOf(() => parseStatement(schema, value))).toBe('statement_malformed')
  })
})

describe('fields that have to be understood', () => {
  it('ignores an unknown field', () => {
    expect(parseStatement(schema, { a: 1, later: true })).toEqual({ a: 1 })
  })

  it('refuses an unknown field that is listed in must', () => {
    expect(parseStatement(schema, { a: 1, must: ['a'] })).toEqual({ a: 1 })
    expect(parseStatement(schema, { a: 1, must: [] })).toEqual({ a: 1 })
    for (const must of [['later'], ['a', 'later'], ['constructor'], 'a', 5, null, [{ toString: 1 }], [5]]) {
      expect(codeOf(() => parseStatement(schema, { a: 1, later: true, must }))).toBe('statement_must_understand')
    }
  })

  it('does not quote a stranger at length', () => {
    const long = 'x'.repeat(100_000)
    try {
      parseStatement(schema, { a: 1, must: [long] })
    } catch (error) {
      expect((error as Error).message.length).toBeLessThan(300)
    }
    expect.assertions(1)
  })
})

describe('CIDs and base64url', () => {
  it('takes a CID of this kind in its one form', () => {
    const cid = 'bafyreigbtj4x7ip5legnfznufuopl4sg4knzc2cof6duas4b3q2fy6swua'
    expect(isCid(cid)).toBe(true)
    for (const other of [
      cid.toUpperCase(),
      cid.slice(1),
      `${cid}a`,
      `${cid.slice(0, -1)}b`,
      cid.replace('bafyrei', 'bafkrei'),
      '',
    ]) {
      expect(isCid(other)).toBe(false)
    }
  })

  it('gives back what was encoded, and takes no second form', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const text = encodeBase64Url(bytes)
        expect(decodeBase64Url(text, bytes.byteLength)).toEqual(bytes)
        expect(text).toBe(Buffer.from(bytes).toString('base64url'))
      }),
    )
    for (const text of ['AA==', 'AB', 'A', 'a+/b', 'AA AA', 'é']) {
      expect(codeOf(() => decodeBase64Url(text, 100))).toBe('bad_base64url')
    }
    expect(codeOf(() => decodeBase64Url(encodeBase64Url(new Uint8Array(101)), 100))).toBe('bad_base64url')
  })

  it('hashes and signs as the standards say', () => {
    const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
    expect(hex(crypto.sha256(new TextEncoder().encode('abc')))).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    )
    // RFC 8032, section 7.1, test 2
    const seed = new Uint8Array(Buffer.from('4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb', 'hex'))
    const publicKey = crypto.ed25519PublicKey(seed)
    expect(hex(publicKey)).toBe('3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c')
    const signature = crypto.ed25519Sign(seed, Uint8Array.of(0x72))
    expect(hex(signature)).toBe(
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    )
    expect(crypto.ed25519Verify(publicKey, Uint8Array.of(0x72), signature)).toBe(true)
    expect(crypto.ed25519Verify(publicKey, Uint8Array.of(0x73), signature)).toBe(false)
    expect(crypto.ed25519Verify(publicKey.slice(1), Uint8Array.of(0x72), signature)).toBe(false)
    expect(crypto.ed25519Verify(publicKey, Uint8Array.of(0x72), signature.slice(1))).toBe(false)
  })

  it('answers false for keys that are no point of the curve', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (key) => {
        expect(crypto.ed25519Verify(key, new Uint8Array(3), new Uint8Array(64))).toBe(false)
      }),
    )
  })

  it('has stable bytes for a value', () => {
    expect(Buffer.from(encodeCbor({ b: 1, a: [null, true], aa: Uint8Array.of(1) })).toString('hex')).toBe(
      'a3616182f6f561620162616141 01'.replace(' ', ''),
    )
  })
})
