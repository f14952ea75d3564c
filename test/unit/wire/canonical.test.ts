import * as dagCbor from '@ipld/dag-cbor'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeCanonical } from '@shared/wire/canonical.ts'
import { equalBytes } from '@shared/wire/index.ts'

/** What decodeCbor did before it had a decoder of its own, and still does where that one gives up. */
function byLibrary(bytes: Uint8Array): { value: unknown } | undefined {
  try {
    const value: unknown = dagCbor.decode(bytes)
    return equalBytes(dagCbor.encode(value), bytes) ? { value } : undefined
  } catch {
    return undefined
  }
}

/** Whether UTF-8 can hold it: no half of a surrogate pair alone. */
function isWellFormed(text: string): boolean {
  return Buffer.from(text, 'utf8').toString('utf8') === text
}

const { tie: anyValue } = fc.letrec((tie) => ({
  tie: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constantFrom(
      null,
      true,
      false,
      0,
      -1,
      23,
      24,
      255,
      256,
      65535,
      65536,
      2 ** 32 - 1,
      2 ** 32,
      2 ** 53 - 1,
      1 - 2 ** 53,
    ),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0)),
    fc.string({ unit: 'binary', maxLength: 100 }).filter(isWellFormed),
    fc.uint8Array({ maxLength: 300 }),
    fc.array(tie('tie'), { maxLength: 30 }),
    fc.dictionary(
      fc.string({ maxLength: 30 }).filter((key) => key !== '__proto__'),
      tie('tie'),
      { maxKeys: 30, noNullPrototype: true },
    ),
  ),
}))

describe('the canonical decoder', () => {
  it('reads what the library wrote', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const bytes = dagCbor.encode(value)
        expect(decodeCanonical(bytes)).toEqual({ value: dagCbor.decode(bytes) })
      }),
      { numRuns: 500 },
    )
  })

  it('accepts nothing that the library does not accept as canonical', () => {
    const damaged = fc.tuple(
      anyValue,
      fc.nat(),
      fc.nat({ max: 255 }),
      fc.constantFrom('set', 'insert', 'remove', 'cut'),
    )
    fc.assert(
      fc.property(damaged, ([value, position, byte, how]) => {
        const bytes = [...dagCbor.encode(value)]
        const at = position % bytes.length
        if (how === 'cut') bytes.length = at
        else bytes.splice(at, how === 'insert' ? 0 : 1, ...(how === 'remove' ? [] : [byte]))
        const decoded = decodeCanonical(Uint8Array.from(bytes))
        if (decoded !== undefined) expect(decoded).toEqual(byLibrary(Uint8Array.from(bytes)))
      }),
      { numRuns: 3000 },
    )
  })

  it.each([
    ['an integer with a longer head', [0x18, 0x17]],
    ['an integer in eight bytes that fits into four', [0x1b, 0, 0, 0, 0, 1, 0, 0, 0]],
    ['a string with a longer head', [0x78, 0x01, 0x61]],
    ['a float that is an integer', [0xfb, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0]],
    ['minus zero', [0xfb, 0x80, 0, 0, 0, 0, 0, 0, 0]],
    ['a short float', [0xf9, 0x3e, 0x00]],
    ['NaN', [0xfb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0]],
    ['undefined', [0xf7]],
    ['keys out of order', [0xa2, 0x61, 0x62, 0x01, 0x61, 0x61, 0x01]],
    ['a key twice', [0xa2, 0x61, 0x61, 0x01, 0x61, 0x61, 0x01]],
    ['a number as key', [0xa1, 0x01, 0x01]],
    ['bytes that are no UTF-8', [0x62, 0xc3, 0x28]],
    ['a string of unknown length', [0x7f, 0x61, 0x61, 0xff]],
    ['bytes after the end', [0x01, 0x01]],
    ['a claim of four billion items', [0x9a, 0xff, 0xff, 0xff, 0xff]],
    ['nothing', []],
  ])('does not accept %s', (_name, bytes) => {
    expect(decodeCanonical(Uint8Array.from(bytes))).toBeUndefined()
  })

  it('gives byte strings memory of their own', () => {
    const block = Buffer.from(dagCbor.encode({ a: Uint8Array.of(1, 2, 3) }))
    const decoded = decodeCanonical(block)
    block.fill(0)
    expect(decoded).toEqual({ value: { a: Uint8Array.of(1, 2, 3) } })
  })
})
