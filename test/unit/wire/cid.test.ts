import fc from 'fast-check'
import { base32 } from 'multiformats/bases/base32'
import { CID } from 'multiformats/cid'
import { describe, expect, it } from 'vitest'
import { cidOf, isCid } from '@shared/wire/index.ts'
import { crypto } from '../../helpers/hub-agent.ts'

/** By decoding, as the specification of CIDs says it. */
function isCidByDecoding(text: string): boolean {
  if (!text.startsWith('b')) return false
  try {
    const cid = CID.parse(text)
    return (
      base32.encode(cid.bytes) === text &&
      cid.version === 1 &&
      cid.code === 0x71 &&
      cid.multihash.code === 0x12 &&
      cid.multihash.digest.length === 32
    )
  } catch {
    return false
  }
}

describe('the form of a CID', () => {
  it('fits every CID of a block', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (block) => {
        expect(isCid(cidOf(crypto, block))).toBe(true)
      }),
    )
  })

  it('fits nothing that does not decode', () => {
    const base32 = 'abcdefghijklmnopqrstuvwxyz234567'
    const changes = fc.array(fc.tuple(fc.nat(58), fc.constantFrom(...base32.split(''), 'A', '1', '0')), {
      maxLength: 3,
    })
    fc.assert(
      fc.property(fc.uint8Array(), changes, (block, changed) => {
        const text = cidOf(crypto, block).split('')
        for (const [at, character] of changed) text[at] = character
        expect(isCid(text.join(''))).toBe(isCidByDecoding(text.join('')))
      }),
      { numRuns: 2000 },
    )
  })

  it.each(['', 'bafyrei', `${'bafyrei'}${'a'.repeat(53)}`, 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG'])(
    'does not fit %j',
    (text) => {
      expect(isCid(text)).toBe(false)
    },
  )
})
