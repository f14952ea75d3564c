import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decodeBody,
  decodeEnvelope,
  encodeBody,
  encodeCbor,
  encodeEnvelope,
  type Envelope,
  envelopeInfo,
  innerSchema,
  type MessageType,
  messageTypes,
  pad,
  padmeLength,
  parseBody,
  parseStatement,
  sealingSuite,
  unnumberedTypes,
  unpad,
} from '@shared/wire/index.ts'
import { codeOf, fixedBytes, KeyHolder, start } from '../../helpers/key-holder.ts'

const agent = new KeyHolder('a')
const peer = new KeyHolder('b')
const text = { role: 'ROLE_USER', messageId: 'm', parts: [{ text: 'hello' }] }

/** One good body of each type. */
const bodies: Readonly<Record<MessageType, unknown>> = {
  'task.open': { contextId: 'c', nonce: fixedBytes('nonce'), message: text },
  'task.message': {
    message: {
      ...text,
      parts: [{ raw: Uint8Array.of(0, 255), filename: 'a.bin', mediaType: 'application/octet-stream' }],
    },
  },
  'task.cancel': { metadata: { why: ['later', 1, null] } },
  'task.status': {
    state: 'TASK_STATE_FAILED',
    at: start,
    reason: 'no_response',
    effectStatus: 'UNVERIFIED',
    listed: true,
  },
  'task.artifact': {
    artifact: { artifactId: 'x', parts: [{ data: { a: [1.5, true, null] } }] },
    append: false,
    lastChunk: true,
  },
  'task.preview': { artifact: { artifactId: 'x', parts: [{ text: 'so far' }] } },
  wanted: { missing: [0, 5] },
  refusal: { reason: 'not_accepting', at: start, listed: false },
  identity: {},
}

describe('bodies', () => {
  it.each(messageTypes)('of type %s come back as they were', (type) => {
    expect(decodeBody(type, encodeBody(type, bodies[type]))).toEqual(bodies[type])
  })

  it('are refused by name', () => {
    expect(codeOf(() => decodeBody('task.open', encodeBody('wanted', bodies.wanted)))).toBe('message_wrong_type')
    expect(codeOf(() => decodeBody('wanted', encodeCbor(null)))).toBe('statement_malformed')
    for (const type of ['task.close', 'constructor', 'toString', '__proto__', '']) {
      expect(codeOf(() => parseBody(type as MessageType, {}))).toBe('message_unknown_type')
    }
    expect(codeOf(() => parseBody('wanted', { missing: [], must: ['all'] }))).toBe('statement_must_understand')
    const deep = JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`) as unknown
    expect(codeOf(() => encodeBody('task.cancel', { metadata: { deep } }))).toBe('content_too_deep')
  })

  it('have parts with exactly one content', () => {
    const withPart = (part: unknown): string | undefined =>
      codeOf(() => parseBody('task.message', { message: { ...text, parts: [part] } }))
    expect(withPart({ text: '' })).toBeUndefined()
    expect(withPart({ data: null })).toBeUndefined()
    for (const part of [{}, { text: 'a', data: 1 }, { raw: 'base64' }, { url: 'https://a.example/' }, { text: 5 }]) {
      expect(withPart(part)).toBe('statement_malformed')
    }
    expect(codeOf(() => parseBody('task.message', { message: { ...text, parts: [] } }))).toBe('statement_malformed')
  })

  it('throw nothing but errors of their own, whatever they hold', () => {
    fc.assert(
      fc.property(fc.constantFrom(...messageTypes), fc.anything({ withBigInt: true }), (type, body) => {
        codeOf(() => parseBody(type, body))
      }),
    )
  })

  it('without a number are those whose loss loses nothing', () => {
    expect([...unnumberedTypes].toSorted()).toEqual(['identity', 'task.preview', 'wanted'])
  })
})

describe('an inner message', () => {
  const inner = {
    from: agent.aid,
    to: peer.aid,
    type: 'task.message',
    task: 'ab'.repeat(16),
    requester: agent.aid,
    n: 0,
    ack: -1,
    mid: fixedBytes('mid').slice(0, 16),
    ts: start,
    exp: start + 1000,
    body: bodies['task.message'],
    history: agent.history,
    keyset: agent.keySet(1),
    head: null,
    peerHead: peer.head,
  }

  it('is read field by field', () => {
    expect(parseStatement(innerSchema, inner)).toEqual(inner)
  })

  it.each([
    ['a mid of another length', { mid: new Uint8Array(15) }],
    ['an AID that is none', { from: 'me' }],
    ['no history', { history: [] }],
    ['a number below 0', { n: -1 }],
    ['an ack below -1', { ack: -2 }],
    ['a task id that is not 16 bytes in hex', { task: 'AB'.repeat(16) }],
    ['a time that is no integer', { ts: 0.5 }],
    ['no head of the peer', { peerHead: null }],
  ])('is refused with %s', (_name, change) => {
    expect(codeOf(() => parseStatement(innerSchema, { ...inner, ...change }))).toBe('statement_malformed')
  })
})

describe('padding', () => {
  it('adds at most 12 % and comes off again', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 5000 }), (bytes) => {
        const padded = pad(bytes)
        expect(unpad(padded)).toEqual(bytes)
        expect(padded.byteLength).toBe(padmeLength(bytes.byteLength + 4))
        expect(padded.byteLength).toBeLessThanOrEqual(Math.max(8, (bytes.byteLength + 4) * 1.12))
      }),
    )
  })

  it('makes Padmé lengths: monotonic, fixed points of themselves', () => {
    // PURBs (Nikitin et al.), section 4.3
    expect([0, 1, 2, 9, 10, 100, 1000, 1025, 10_000, 1_000_000, 100_663_296].map(padmeLength)).toEqual([
      0, 1, 2, 10, 10, 104, 1024, 1088, 10_240, 1_015_808, 100_663_296,
    ])
    fc.assert(
      fc.property(fc.nat(2 ** 31), (length) => {
        const padded = padmeLength(length)
        expect(padded).toBeGreaterThanOrEqual(length)
        expect(padmeLength(padded)).toBe(padded)
        expect(padmeLength(length + 1)).toBeGreaterThanOrEqual(padded)
      }),
    )
  })

  it('is refused if it is wrong', () => {
    const padded = pad(new Uint8Array(101))
    const change = (at: number, byte: number): Uint8Array =>
      Uint8Array.from(padded, (old, index) => (index === at ? byte : old))
    for (const wrong of [
      change(padded.length - 1, 1),
      change(3, 0),
      change(0, 255),
      padded.slice(1),
      padded.slice(0, -1),
      new Uint8Array(0),
      new Uint8Array(3),
    ]) {
      expect(codeOf(() => unpad(wrong))).toBe('message_bad_padding')
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        codeOf(() => unpad(bytes))
      }),
    )
  })
})

describe('an envelope', () => {
  const envelope: Envelope = {
    p: 'anet/1',
    to: peer.aid,
    suite: sealingSuite,
    kid: '0123456789abcdef',
    enc: fixedBytes('enc'),
    ct: fixedBytes('ct'),
  }

  it('comes back from its bytes', () => {
    expect(decodeEnvelope(encodeEnvelope(envelope))).toEqual(envelope)
  })

  it('names nobody but its recipient', () => {
    expect(Object.keys(decodeEnvelope(encodeEnvelope(envelope))).toSorted()).toEqual([
      'ct',
      'enc',
      'kid',
      'p',
      'suite',
      'to',
    ])
  })

  it.each([
    ['another protocol', { p: 'anet/2' }],
    ['another suite', { suite: 'x448' }],
    ['no recipient', { to: '' }],
    ['a key id that is none', { kid: '0' }],
    ['an encapsulated key of another length', { enc: new Uint8Array(31) }],
    ['text in place of the ciphertext', { ct: 'text' }],
  ])('is refused with %s', (_name, change) => {
    expect(codeOf(() => decodeEnvelope(encodeCbor({ ...envelope, ...change })))).toBe('statement_malformed')
  })

  it('is sealed to one recipient, suite and key', () => {
    const infos = [envelopeInfo(peer.aid, 'a'), envelopeInfo(agent.aid, 'a'), envelopeInfo(peer.aid, 'b')]
    expect(new Set(infos.map((info) => Buffer.from(info).toString('hex'))).size).toBe(3)
  })
})
