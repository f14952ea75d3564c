import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeCbor } from '@shared/wire/index.ts'
import { HubError } from '../../../src-hub/errors.ts'
import { EnvelopeScanner } from '../../../src-hub/mailbox/envelope-scanner.ts'
import { envelopeTo, unknownAid } from '../../helpers/hub-agent.ts'

function scan(...pieces: readonly Uint8Array[]): string {
  const scanner = new EnvelopeScanner()
  for (const piece of pieces) scanner.push(piece)
  return scanner.finish()
}

function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const cuts = [0, ...at.map((one) => one % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  return cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end))
}

const fields = { p: 'anet/1', suite: 'x25519-sha256-aes256gcm', kid: '0123456789abcdef', enc: new Uint8Array(32) }

describe('the scanner of envelopes', () => {
  it('finds the recipient wherever the bytes are cut', () => {
    const to = unknownAid()
    const sizes = fc.constantFrom(16, 23, 24, 255, 256, 1000, 65_535, 65_536, 70_000)
    fc.assert(
      fc.property(sizes, fc.array(fc.nat(), { maxLength: 6 }), (size, at) => {
        expect(scan(...cut(envelopeTo(to, new Uint8Array(size).fill(7)), at))).toBe(to)
      }),
    )
  })

  it('finds it byte by byte', () => {
    const to = unknownAid()
    expect(scan(...[...envelopeTo(to)].map((byte) => Uint8Array.of(byte)))).toBe(to)
  })

  it('ignores fields of a later version, unless they must be understood', () => {
    const to = unknownAid()
    const ct = new Uint8Array(64)
    expect(scan(encodeCbor({ ...fields, to, ct, flavour: 'sweet' }))).toBe(to)
    expect(() => scan(encodeCbor({ ...fields, to, ct, flavour: 'sweet', must: ['flavour'] }))).toThrow(/newer version/)
  })

  it.each([
    ['another protocol', { ...fields, p: 'anet/2', to: unknownAid(), ct: new Uint8Array(64) }],
    ['no recipient', { ...fields, ct: new Uint8Array(64), x: 1, y: 2 }],
    ['a recipient that is no AID', { ...fields, to: 'somebody', ct: new Uint8Array(64) }],
    ['a ciphertext shorter than its tag', { ...fields, to: unknownAid(), ct: new Uint8Array(15) }],
    ['a ciphertext that is text', { ...fields, to: unknownAid(), ct: 'a'.repeat(64) }],
    [
      'an encapsulated key of another size',
      { ...fields, to: unknownAid(), ct: new Uint8Array(64), enc: new Uint8Array(31) },
    ],
    ['a header that is too long', { ...fields, to: unknownAid(), ct: new Uint8Array(64), more: 'x'.repeat(5000) }],
  ])('refuses %s', (_name, value) => {
    expect(() => scan(encodeCbor(value))).toThrow(HubError)
  })

  it('refuses a longer head of the ciphertext than it needs', () => {
    const bytes = [...envelopeTo(unknownAid(), new Uint8Array(64))]
    const at = bytes.findIndex((byte, index) => byte === 0x58 && bytes[index + 1] === 64)
    bytes.splice(at, 2, 0x59, 0, 64)
    expect(() => scan(Uint8Array.from(bytes))).toThrow(/canonical/)
  })

  it('takes no bytes that decodeEnvelope would not take, and fails with nothing but a refusal', () => {
    const whole = envelopeTo(unknownAid(), new Uint8Array(40))
    const damage = fc.tuple(fc.nat(whole.length - 1), fc.nat(255), fc.nat(whole.length))
    fc.assert(
      fc.property(damage, ([at, byte, length]) => {
        const bytes = whole.slice(0, length)
        if (at < length) bytes[at] = byte
        try {
          scan(bytes)
        } catch (error) {
          expect(error).toBeInstanceOf(HubError)
          expect((error as HubError).code).toBe('bad_request')
        }
      }),
      { numRuns: 2000 },
    )
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(() => scan(bytes)).toThrow(HubError)
      }),
    )
  })
})
