import { describe, expect, it } from 'vitest'
import { decodeCbor, encodeCbor } from '@shared/wire/index.ts'
import { deliverHead, ephemeralFrame, mailIds } from '../../../src-hub/mailbox/frames.ts'
import { joinRaw, rawArray, rawLength, rawMap, rawValue } from '../../../src-hub/raw-cbor.ts'

/** Compares by memory: vitest's equality looks at each of 300,000 numbers. */
function same(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.from(a).equals(b)
}

describe('DAG-CBOR from parts', () => {
  it.each([0, 1, 23, 24, 255, 256, 65_535, 65_536, 300_000])(
    'frames an envelope of %i bytes as the encoder does',
    (size) => {
      const envelope = new Uint8Array(size).fill(3)
      const delivery = { type: 'deliver', delivery: { id: '4711', envelope } }
      expect(same(joinRaw([...deliverHead(4711, size), envelope]), encodeCbor(delivery))).toBe(true)
      expect(same(joinRaw(ephemeralFrame(envelope)), encodeCbor({ type: 'ephemeral', envelope }))).toBe(true)
    },
  )

  it.each([0, 1, 23, 24, 200])('puts %i items into an array and a map', (count) => {
    const items = Array.from({ length: count }, (_, index) => index)
    const raw = rawMap(['items', rawArray(items.map((item) => rawValue(item)))])
    expect(decodeCbor(joinRaw(raw), 10_000)).toEqual({ items })
    expect(rawLength(raw)).toBe(joinRaw(raw).byteLength)
  })

  it('reads the ids that the hub gives and no others', () => {
    expect(mailIds(['1', '42', '0', '-1', '01', '1e3', '9'.repeat(15), '9'.repeat(16), ' 1', ''])).toEqual([
      1,
      42,
      Number('9'.repeat(15)),
    ])
  })
})
