import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decodeSigned,
  encodeCbor,
  encodeSigned,
  limits,
  readKeySet,
  readNetworkCard,
  type Signed,
  signStatement,
  statementId,
  statementTypes,
  verifySignature,
} from '@shared/wire/index.ts'
import { codeOf, crypto, KeyHolder } from '../../helpers/key-holder.ts'

const agent = new KeyHolder('signer')
const publicKey = crypto.ed25519PublicKey(agent.seed(0))
const limit = 4096
const value = fc.dictionary(
  fc.string({ maxLength: 8 }).filter((key) => key !== '__proto__' && key !== 'must'),
  fc.oneof(fc.maxSafeInteger(), fc.uint8Array(), fc.string()),
  {
    noNullPrototype: true,
  },
)

function sign(content: unknown, t: Signed['t'] = 'receipt'): Signed {
  return signStatement(crypto, t, content, [agent.key(0)])
}

function isSigned(signed: Signed): boolean {
  return verifySignature(crypto, signed, agent.aid, 0, publicKey)
}

describe('signed statements', () => {
  it('come back from their bytes, still signed', () => {
    fc.assert(
      fc.property(value, (content) => {
        const signed = sign(content)
        const back = decodeSigned(encodeSigned(signed), 'receipt', 1_000_000)
        expect(back).toEqual(signed)
        expect(back.v).toEqual(encodeCbor(content))
        expect(isSigned(back)).toBe(true)
        expect(statementId(crypto, back)).toBe(statementId(crypto, signed))
      }),
    )
  })

  it('do not survive a flipped bit, a lost byte or an added one', () => {
    const bytes = encodeSigned(sign({ task: 'x', n: 5 }))
    const survives = (damaged: Uint8Array): boolean => {
      let verified = false
      codeOf(() => {
        verified = isSigned(decodeSigned(damaged, 'receipt', limit))
      })
      return verified
    }
    expect(survives(bytes)).toBe(true)
    for (let at = 0; at < bytes.byteLength; at += 1) {
      for (let bit = 0; bit < 8; bit += 1) {
        const flipped = Uint8Array.from(bytes)
        flipped[at] = (flipped[at] ?? 0) ^ (1 << bit)
        expect(survives(flipped)).toBe(false)
      }
      expect(survives(bytes.slice(0, at))).toBe(false)
      expect(survives(Uint8Array.from([...bytes.slice(0, at), 0, ...bytes.slice(at)]))).toBe(false)
    }
  })

  it('are worth nothing as another type, of another author or under another key number', () => {
    const signed = sign({ a: 1 })
    for (const t of statementTypes) expect(isSigned({ ...signed, t })).toBe(t === 'receipt')
    const other = new KeyHolder('other')
    const [signature] = signed.sigs
    if (signature === undefined) throw new Error('unsigned')
    expect(verifySignature(crypto, signed, other.aid, 0, publicKey)).toBe(false)
    expect(verifySignature(crypto, signed, agent.aid, 1, publicKey)).toBe(false)
    const renumbered = { ...signed, sigs: [{ ...signature, ksn: 1 }] }
    expect(verifySignature(crypto, renumbered, agent.aid, 1, publicKey)).toBe(false)
    const renamed = { ...signed, sigs: [{ ...signature, by: other.aid }] }
    expect(verifySignature(crypto, renamed, other.aid, 0, publicKey)).toBe(false)
  })

  it('are refused by name: another type, too large, malformed', () => {
    const bytes = encodeSigned(sign({ a: 1 }))
    expect(codeOf(() => decodeSigned(bytes, 'card', limit))).toBe('statement_wrong_type')
    expect(codeOf(() => decodeSigned(bytes, 'receipt', bytes.byteLength - 1))).toBe('statement_too_large')
    const { t, v, sigs } = sign({ a: 1 })
    const [signature] = sigs
    const malformed: unknown[] = [
      { t, v, sigs: [] },
      { t, v, sigs: [signature, signature, signature] },
      { t: 'letter', v, sigs },
      { t, v: 'text', sigs },
      { t, v, sigs: [{ ...signature, sig: new Uint8Array(63) }] },
      { t, v, sigs: [{ ...signature, ksn: 256 }] },
      { t, v, sigs: [{ ...signature, by: 'me' }] },
      [t, v, sigs],
      null,
    ]
    for (const content of malformed) {
      expect(codeOf(() => decodeSigned(encodeCbor(content), 'receipt', limit))).toBe('statement_malformed')
    }
    expect(codeOf(() => decodeSigned(encodeCbor({ t, v, sigs, must: ['seal'] }), 'receipt', limit))).toBe(
      'statement_must_understand',
    )
  })

  it('answer random values of any type with an error of their own', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (v) => {
        codeOf(() => readKeySet({ t: 'key-set', v, sigs: [] }))
        codeOf(() => readNetworkCard({ t: 'card', v, sigs: [] }))
        codeOf(() => decodeSigned(v, 'message', limits.card.bytes))
      }),
      { numRuns: 1000 },
    )
  })
})
