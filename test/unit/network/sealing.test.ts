import {
  createInception,
  decodeEnvelope,
  encodeCbor,
  encodeEnvelope,
  type Envelope,
  limits,
  type Inner,
  padmeLength,
} from '@shared/wire/index.ts'
import { describe, expect, test } from 'vitest'
import { createSealing } from '../../../src-main/node/network/sealing.ts'
import { encodeInner, type InnerFields } from '../../../src-main/node/network/inner.ts'
import { crypto, wireAgent } from '../../helpers/wire-agent.ts'

const now = 1_800_000_000_000
const day = 24 * 60 * 60_000

function setting() {
  const alice = wireAgent(now)
  const bob = wireAgent(now)
  const clock = { now: () => now }
  return {
    alice,
    bob,
    from: createSealing({ identity: alice.identity, crypto, clock }),
    to: createSealing({ identity: bob.identity, crypto, clock }),
    fields: (changes: Partial<InnerFields> = {}): InnerFields => ({
      from: alice.identity.aid,
      to: bob.identity.aid,
      type: 'task.message',
      task: 'ab'.repeat(16),
      requester: alice.identity.aid,
      n: 1,
      ack: -1,
      mid: crypto.randomBytes(16),
      ts: now,
      exp: now + 14 * day,
      history: alice.identity.history,
      keyset: alice.identity.keySet(),
      head: null,
      peerHead: bob.identity.head,
      ...changes,
    }),
  }
}

const body = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] } }
const raw = encodeCbor(body)

describe('a sealed message', () => {
  test('opens for its recipient with everything that was put in', async () => {
    const { alice, bob, from, to, fields } = setting()
    const envelope = await from.seal(fields(), raw, bob.encryptionKey, alice.signingKey)
    const opened = await to.open(envelope)
    expect(opened.inner).toMatchObject({ from: alice.identity.aid, n: 1, ack: -1, body })
    expect(opened.ksn).toBe(0)
    expect(opened.history.aid).toBe(alice.identity.aid)
    expect(opened.digest).toEqual(crypto.sha256(encodeCbor({ type: 'task.message', body })))
  })

  test('of some megabytes opens as well, and a wrong signature on it shows', async () => {
    const { alice, bob, from, to, fields } = setting()
    const large = encodeCbor({ ...body, filler: crypto.randomBytes(3 * 1024 * 1024) })
    const opened = await to.open(await from.seal(fields(), large, bob.encryptionKey, alice.signingKey))
    expect(Buffer.compare(encodeCbor(opened.inner.body), large)).toBe(0)
    expect(opened.digest).toEqual(crypto.sha256(encodeCbor({ type: 'task.message', body: opened.inner.body })))
    const forger = { ...wireAgent(now).signingKey, aid: alice.identity.aid }
    const forged = await from.seal(fields(), large, bob.encryptionKey, forger)
    await expect(to.open(forged)).rejects.toMatchObject({ code: 'message_bad_signature' })
  })

  test('shows the hub neither sender nor text, and a padded size', async () => {
    const { alice, bob, from, fields } = setting()
    const envelope = await from.seal(fields(), raw, bob.encryptionKey, alice.signingKey)
    const seen = Buffer.from(envelope).toString('latin1')
    expect(seen).not.toContain(alice.identity.aid)
    expect(seen).not.toContain('hello')
    const { ct } = decodeEnvelope(envelope)
    const padded = ct.byteLength - 16
    expect(padmeLength(padded)).toBe(padded)
  })

  test.each<[string, (e: Envelope) => Envelope, string]>([
    ['ciphertext', (e) => ({ ...e, ct: flipped(e.ct) }), 'envelope_does_not_open'],
    ['encapsulated key', (e) => ({ ...e, enc: flipped(e.enc) }), 'envelope_does_not_open'],
    ['key id', (e) => ({ ...e, kid: '0123456789abcdef' }), 'envelope_unknown_key'],
  ])('with another %s does not open', async (_part, alter, code) => {
    const { alice, bob, from, to, fields } = setting()
    const envelope = await from.seal(fields(), raw, bob.encryptionKey, alice.signingKey)
    await expect(to.open(encodeEnvelope(alter(decodeEnvelope(envelope))))).rejects.toMatchObject({ code })
  })

  test('does not open for anybody else, not even readdressed', async () => {
    const { alice, bob, from, fields } = setting()
    const mallory = wireAgent(now)
    const his = createSealing({ identity: mallory.identity, crypto, clock: { now: () => now } })
    const envelope = await from.seal(fields(), raw, bob.encryptionKey, alice.signingKey)
    await expect(his.open(envelope)).rejects.toMatchObject({ code: 'envelope_wrong_recipient' })
    const readdressed = { ...decodeEnvelope(envelope), to: mallory.identity.aid, kid: mallory.encryptionKey.kid }
    await expect(his.open(encodeEnvelope(readdressed))).rejects.toMatchObject({ code: 'envelope_does_not_open' })
  })

  test('that was written to somebody else and sealed again is refused', async () => {
    const { alice, bob, from, to, fields } = setting()
    const elsewhere = wireAgent(now)
    // mallory opened a message to her and seals the same signed bytes to bob: "to" inside still names her
    const envelope = await from.seal(
      fields({ to: elsewhere.identity.aid }),
      raw,
      elsewhere.encryptionKey,
      alice.signingKey,
    )
    await expect(to.open(envelope)).rejects.toMatchObject({ code: 'envelope_wrong_recipient' })
    const resealed = await from.seal(fields({ to: bob.identity.aid }), raw, bob.encryptionKey, {
      ...wireAgent(now).signingKey,
      aid: alice.identity.aid,
    })
    await expect(to.open(resealed)).rejects.toMatchObject({ code: 'message_bad_signature' })
  })

  test.each([
    ['dated eleven minutes ahead', { ts: now + 11 * 60_000 }, 'message_from_future'],
    ['valid for longer than 14 days', { exp: now + 15 * day }, 'message_valid_too_long'],
    ['expired', { ts: now - 14 * day, exp: now }, 'message_expired'],
  ])('that is %s is refused', async (_name, changes, code) => {
    const { alice, bob, from, to, fields } = setting()
    const envelope = await from.seal(fields(changes), raw, bob.encryptionKey, alice.signingKey)
    await expect(to.open(envelope)).rejects.toMatchObject({ code })
  })

  test("with another agent's history is refused", async () => {
    const { alice, bob, from, to, fields } = setting()
    const other = wireAgent(now)
    const envelope = await from.seal(
      fields({ history: other.identity.history }),
      raw,
      bob.encryptionKey,
      alice.signingKey,
    )
    await expect(to.open(envelope)).rejects.toMatchObject({ code: 'history_wrong_agent' })
  })

  test('with an invented history is refused', async () => {
    const { alice, bob, from, to, fields } = setting()
    const forged = createInception(crypto, {
      privateKey: crypto.randomBytes(32),
      nextCommitment: crypto.randomBytes(32),
      at: now,
    })
    const [statement] = alice.identity.history
    const mixed = [{ ...forged.statement, v: statement?.v ?? forged.statement.v }]
    const envelope = await from.seal(fields({ history: mixed }), raw, bob.encryptionKey, alice.signingKey)
    await expect(to.open(envelope)).rejects.toMatchObject({
      code: expect.stringMatching(/^history_/) as string,
    })
  })

  test('to a key whose private half is gone is refused by name', async () => {
    const { alice, bob, from, to, fields } = setting()
    const envelope = await from.seal(fields(), raw, bob.encryptionKey, alice.signingKey)
    bob.forgetEncryptionKey()
    await expect(to.open(envelope)).rejects.toMatchObject({ code: 'envelope_unknown_key' })
  })

  test('over the size limit is refused before it is read', async () => {
    const { to } = setting()
    const huge = new Uint8Array(limits.message.envelopeBytes + 1)
    await expect(to.open(huge)).rejects.toMatchObject({ code: 'envelope_too_large' })
  })

  test('that is garbage is refused with the name of what is wrong', async () => {
    const { to } = setting()
    await expect(to.open(crypto.randomBytes(500))).rejects.toMatchObject({
      code: expect.stringMatching(/^statement_/) as string,
    })
    await expect(to.open(encodeCbor({ p: 'anet/1' }))).rejects.toMatchObject({ code: 'statement_malformed' })
  })
})

test('an inner message with its body spliced in has the canonical encoding of the whole', () => {
  const { fields } = setting()
  const full = fields()
  const { task: _task, requester: _requester, n: _n, ...few } = full
  const large = encodeCbor({ parts: [{ raw: crypto.randomBytes(100_000) }] })
  for (const [one, encoded, value] of [
    [full, raw, body],
    [few, raw, body],
    [full, large, undefined],
  ] as const) {
    const whole = encodeInner(one as InnerFields, encoded)
    if (value !== undefined) expect(whole).toEqual(encodeCbor({ ...(one as Omit<Inner, 'body'>), body: value }))
    else expect(whole.byteLength).toBeGreaterThan(100_000)
  }
})

function flipped(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(bytes)
  copy[copy.byteLength - 1] = (copy[copy.byteLength - 1] ?? 0) ^ 1
  return copy
}
