import { readdir } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { encodeCbor, hubPaths, limits as wireLimits, mailboxCloseCodes } from '@shared/wire/index.ts'
import {
  type AgentSession,
  crypto,
  decoded,
  envelopeTo,
  errorCode,
  HubAgent,
  unknownAid,
} from '../../helpers/hub-agent.ts'
import { askAdmin, joinedAgent, temporaryDirectory, temporaryHub } from '../../helpers/temporary-hub.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const day = 24 * 60 * 60_000
const fast = { ratePerSecond: 10_000, rateBurst: 10_000, requestsPerSecond: 10_000, requestBurst: 10_000 }

async function stored(from: HubAgent, envelope: Uint8Array): Promise<void> {
  expect(decoded(await from.post(hubPaths.send, envelope))).toEqual({ stored: true })
}

async function deliveries(session: AgentSession, count: number): Promise<{ id: string; envelope: Uint8Array }[]> {
  const all: { id: string; envelope: Uint8Array }[] = []
  while (all.length < count) all.push(await session.nextDelivery())
  return all
}

describe('a mailbox', () => {
  it('does not keep answers for an agent that asks whether the hub is there and never reads', async () => {
    const hub = await temporaryHub({ limits: fast })
    const [from, to] = [await joinedAgent(hub), await joinedAgent(hub)]
    const session = await to.open()
    await stored(from, envelopeTo(to.aid))
    const { id } = await session.nextDelivery()
    let pongs = 0
    session.socket.on('pong', () => (pongs += 1))
    session.socket.pause()
    // 32 MiB of answers: more than the buffers of both sockets hold
    const pings = 256 * 1024
    for (let sent = 0; sent < pings; sent += 1) session.socket.ping(Buffer.alloc(125))
    session.acknowledge(id)
    await expect
      .poll(async () => (await askAdmin(hub, 'GET', '/admin/v1/status')).json, { timeout: 20_000 })
      .toMatchObject({ messages: 0, sessions: 1 })
    session.socket.resume()
    await stored(from, envelopeTo(to.aid))
    await session.nextDelivery()
    expect(pongs).toBeGreaterThan(0)
    expect(pongs).toBeLessThan(pings)
  })

  it('keeps what came while nobody was there, and delivers it in order', async () => {
    const hub = await temporaryHub()
    const [from, to] = [await joinedAgent(hub), await joinedAgent(hub)]
    const envelopes = Array.from({ length: 100 }, () => envelopeTo(to.aid))
    for (const envelope of envelopes.slice(0, 70)) await stored(from, envelope)
    const session = await to.open()
    for (const envelope of envelopes.slice(70)) await stored(from, envelope)
    const received = await deliveries(session, 100)
    expect(received.map((one) => hex(one.envelope))).toEqual(envelopes.map(hex))
    expect(new Set(received.map((one) => one.id)).size).toBe(100)
  })

  it('delivers in order what many send at once, before and while a session begins', async () => {
    const hub = await temporaryHub({ limits: { ...fast, windowMessages: 7 } })
    const to = await joinedAgent(hub)
    const senders = await Promise.all(Array.from({ length: 8 }, () => joinedAgent(hub)))
    const sending = senders.map(async (from) => {
      for (let sent = 0; sent < 25; sent += 1) await stored(from, envelopeTo(to.aid))
    })
    const session = await to.open()
    const ids: number[] = []
    while (ids.length < 200) {
      const { id } = await session.nextDelivery()
      ids.push(Number(id))
      session.acknowledge(id)
    }
    await Promise.all(sending)
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    await expect
      .poll(async () => (await askAdmin(hub, 'GET', '/admin/v1/status')).json)
      .toMatchObject({ messages: 0, bytes: 0 })
  })

  it('delivers again what was not acknowledged, also after the hub was stopped and started again', async () => {
    const dataDir = `${await temporaryDirectory()}/hub`
    const hub = await temporaryHub({ dataDir })
    const [from, to] = [await joinedAgent(hub), await joinedAgent(hub)]
    for (let sent = 0; sent < 3; sent += 1) await stored(from, envelopeTo(to.aid))
    const session = await to.open()
    const first = await deliveries(session, 3)
    session.acknowledge(first[1]?.id ?? '')
    await expect.poll(async () => (await askAdmin(hub, 'GET', '/admin/v1/status')).json).toMatchObject({ messages: 2 })
    await hub.stop()
    expect(await session.closed).toBe(1001)

    to.hub.url = (await temporaryHub({ dataDir })).url
    const again = await deliveries(await to.open(), 2)
    expect(again.map((one) => one.id)).toEqual([first[0]?.id, first[2]?.id])
    expect(hex(again[0]?.envelope ?? new Uint8Array())).toBe(hex(first[0]?.envelope ?? new Uint8Array()))
  })

  it('lets nobody else read or delete', async () => {
    const hub = await temporaryHub()
    const [from, to, other] = [await joinedAgent(hub), await joinedAgent(hub), await joinedAgent(hub)]
    await stored(from, envelopeTo(to.aid))
    const [mine] = await to.poll()
    expect(await other.poll()).toEqual([])
    await other.acknowledge([mine?.id ?? ''])
    await from.acknowledge([mine?.id ?? '', '999', 'nonsense'])
    expect(await to.poll()).toHaveLength(1)
    expect(errorCode(await to.acknowledge([mine?.id ?? '']))).toBeUndefined()
    expect(errorCode(await to.acknowledge([mine?.id ?? '']))).toBeUndefined()
    expect(await to.poll()).toEqual([])
  })

  it('takes nothing for an agent that is not a member, nor from one', async () => {
    const hub = await temporaryHub()
    const agent = await joinedAgent(hub)
    expect(errorCode(await agent.send(unknownAid()))).toBe('unknown_agent')
    expect(errorCode(await agent.send(unknownAid(), undefined, '?ephemeral=1'))).toBe('unknown_agent')
    expect(errorCode(await new HubAgent(hub).send(agent.aid))).toBe('not_member')
  })

  it('belongs to the newest session', async () => {
    const hub = await temporaryHub()
    const [from, to] = [await joinedAgent(hub), await joinedAgent(hub)]
    const older = await to.open()
    const newer = await to.open()
    expect((await older.next()).type).toBe('superseded')
    expect(await older.closed).toBe(mailboxCloseCodes.superseded)
    await stored(from, envelopeTo(to.aid))
    await newer.nextDelivery()
    expect(older.frames).toEqual([])
  })

  it('can be polled, and a poll is a session too', async () => {
    const hub = await temporaryHub()
    const [from, to] = [await joinedAgent(hub), await joinedAgent(hub)]
    const session = await to.open()
    const waiting = to.poll(60_000)
    expect((await session.next()).type).toBe('superseded')
    const envelope = envelopeTo(to.aid)
    await stored(from, envelope)
    expect((await waiting).map((one) => hex(one.envelope))).toEqual([hex(envelope)])
    await stored(from, envelopeTo(to.aid))
    expect(await to.poll(60_000, 1)).toHaveLength(1)
    expect(await to.poll()).toHaveLength(2)

    await to.acknowledge((await to.poll()).map((one) => one.id))
    expect(await to.poll(10)).toEqual([])
    const older = to.post(hubPaths.poll, { waitMs: 60_000, max: 1 })
    await expect.poll(async () => (await askAdmin(hub, 'GET', '/metrics')).json).toContain('anet_hub_polls 1')
    const newer = to.poll(60_000)
    expect(errorCode(await older)).toBe('superseded')
    await stored(from, envelopeTo(to.aid))
    expect(await newer).toHaveLength(1)
  })

  it('hands an ephemeral envelope to a connected session and keeps nothing of it', async () => {
    const hub = await temporaryHub()
    const [from, to] = [await joinedAgent(hub), await joinedAgent(hub)]
    expect(decoded(await from.send(to.aid, undefined, '?ephemeral=1'))).toEqual({ stored: false })
    const session = await to.open()
    const ciphertext = crypto.randomBytes(500_000)
    expect(decoded(await from.send(to.aid, ciphertext, '?ephemeral=1'))).toEqual({ stored: false })
    const frame = await session.next()
    if (frame.type !== 'ephemeral') throw new Error(`a ${frame.type} frame came`)
    expect(frame.envelope.byteLength).toBeGreaterThan(500_000)
    const tooLarge = await from.send(to.aid, new Uint8Array(2 * 1024 * 1024), '?ephemeral=1')
    expect([tooLarge.status, errorCode(tooLarge)]).toEqual([413, 'too_large'])
    expect(await to.poll()).toEqual([])
  })

  it('delivers a large envelope unchanged, by session and by poll, and deletes its file', async () => {
    const hub = await temporaryHub()
    const [from, to] = [await joinedAgent(hub), await joinedAgent(hub)]
    const session = await to.open()
    const envelopes = [256 * 1024 + 1, 5 * 1024 * 1024, 100, 300_000].map((size) =>
      envelopeTo(to.aid, new Uint8Array(size).fill(size % 251)),
    )
    for (const envelope of envelopes) await stored(from, envelope)
    const received = await deliveries(session, 4)
    expect(received.map((one) => hex(crypto.sha256(one.envelope)))).toEqual(
      envelopes.map((one) => hex(crypto.sha256(one))),
    )
    expect((await to.poll()).map((one) => one.envelope.byteLength)).toEqual([envelopes[0]?.byteLength])
    await to.acknowledge([received[0]?.id ?? ''])
    const [large] = await to.poll()
    expect(hex(crypto.sha256(large?.envelope ?? new Uint8Array()))).toBe(
      hex(crypto.sha256(envelopes[1] ?? new Uint8Array())),
    )
    expect(await readdir(`${hub.dataDir}/envelopes`)).toHaveLength(2)
    await to.acknowledge(received.map((one) => one.id))
    expect(await readdir(`${hub.dataDir}/envelopes`)).toEqual([])
  })

  it('keeps no file of a large envelope that was refused', async () => {
    const hub = await temporaryHub()
    const [from, to] = [await joinedAgent(hub), await joinedAgent(hub)]
    const envelope = envelopeTo(to.aid, new Uint8Array(600_000))
    const header = from.sign(hubPaths.send, envelope)
    await from.post(hubPaths.send, envelope, header)
    expect(errorCode(await from.post(hubPaths.send, envelope, header))).toBe('replayed_request')
    expect(errorCode(await from.post(hubPaths.send, envelopeTo(unknownAid(), new Uint8Array(600_000))))).toBe(
      'unknown_agent',
    )
    const altered = Buffer.from(envelope)
    altered[300_000] = 1
    const altering = from.post(hubPaths.send, altered, from.sign(hubPaths.send, envelope))
    expect(errorCode(await altering)).toBe('bad_signature')
    expect(await readdir(`${hub.dataDir}/envelopes`)).toHaveLength(1)
  })

  it('is full after so many messages or bytes, and open again after an acknowledgement', async () => {
    const hub = await temporaryHub({ limits: { mailboxMessages: 4, mailboxBytes: 5000, senderShare: 1 } })
    const [from, to] = [await joinedAgent(hub), await joinedAgent(hub)]
    const other = await joinedAgent(hub)
    for (let sent = 0; sent < 4; sent += 1) await stored(from, envelopeTo(to.aid))
    const refused = await other.send(to.aid)
    expect([refused.status, errorCode(refused)]).toEqual([507, 'mailbox_full'])
    const [first] = await to.poll()
    await to.acknowledge([first?.id ?? ''])
    expect(errorCode(await other.send(to.aid, new Uint8Array(4700)))).toBe('mailbox_full')
    expect(errorCode(await other.send(to.aid))).toBeUndefined()
  })

  it('is not filled by one sender', async () => {
    const hub = await temporaryHub({ limits: { mailboxMessages: 40 } })
    const [from, to] = [await joinedAgent(hub), await joinedAgent(hub)]
    const other = await joinedAgent(hub)
    await stored(from, envelopeTo(to.aid))
    await stored(from, envelopeTo(to.aid))
    expect(errorCode(await from.send(to.aid))).toBe('mailbox_full')
    await stored(other, envelopeTo(to.aid))
    const [first] = await to.poll()
    await to.acknowledge([first?.id ?? ''])
    await stored(from, envelopeTo(to.aid))
  })

  it('forgets after fourteen days, but not for a clock that was wrong for a moment', async () => {
    let now = Date.now()
    const hub = await temporaryHub({ clock: { now: () => now }, limits: { sweepEvery: 5 } })
    const [from, to] = [await joinedAgent(hub, () => now), await joinedAgent(hub, () => now)]
    await stored(from, envelopeTo(to.aid, new Uint8Array(300_000)))
    now += 14 * day - 1000
    expect(await to.poll()).toHaveLength(1)
    now += 1000
    expect(await to.poll()).toEqual([])
    await expect.poll(() => readdir(`${hub.dataDir}/envelopes`)).toEqual([])
    expect((await askAdmin(hub, 'GET', '/admin/v1/status')).json).toMatchObject({ messages: 0, bytes: 0 })
  })

  it('does not grow with a session that reads nothing, and goes on when it does', async () => {
    const hub = await temporaryHub({ limits: { ...fast, windowMessages: 8, senderShare: 1 } })
    const [from, to] = [await joinedAgent(hub), await joinedAgent(hub)]
    const session = await to.open()
    session.socket.pause()
    const size = 200_000
    for (let sent = 0; sent < 40; sent += 1) await stored(from, envelopeTo(to.aid, new Uint8Array(size)))
    expect((await askAdmin(hub, 'GET', '/metrics')).json).toMatch(/envelopes_delivered_total [0-8]\n/)
    session.socket.resume()
    for (let read = 0; read < 40; read += 1) session.acknowledge((await session.nextDelivery()).id)
    expect(session.frames).toEqual([])
  })

  it('goes on after a message that its owner leaves', async () => {
    const hub = await temporaryHub({ limits: { ...fast, windowMessages: 2, leftAfter: 50 } })
    const [from, to] = [await joinedAgent(hub), await joinedAgent(hub)]
    for (let sent = 0; sent < 9; sent += 1) await stored(from, envelopeTo(to.aid))
    const session = await to.open()
    expect(await deliveries(session, 9)).toHaveLength(9)
    expect(await to.poll()).toHaveLength(9)
  })

  it('ends a session that says something else than acknowledgements', async () => {
    const hub = await temporaryHub()
    const to = await joinedAgent(hub)
    const nonsense: (string | Uint8Array)[] = [
      'hello',
      crypto.randomBytes(100),
      encodeCbor({ type: 'ack', ids: [] }),
      encodeCbor({ type: 'ack', ids: Array.from({ length: 1025 }, () => '1') }),
      encodeCbor({ type: 'deliver' }),
    ]
    for (const data of nonsense) {
      const session = await to.open()
      session.socket.send(data)
      expect(await session.closed).toBe(1008)
    }
    const session = await to.open()
    session.socket.send(new Uint8Array(wireLimits.request.bodyBytes))
    expect(await session.closed).toBe(1009)
    expect(await to.poll()).toEqual([])
  })

  it('notices a session that died without a word', async () => {
    const hub = await temporaryHub({ limits: { heartbeatEvery: 20 } })
    const to = await joinedAgent(hub)
    const session = await to.open()
    session.socket.pause()
    await expect.poll(async () => (await askAdmin(hub, 'GET', '/admin/v1/status')).json).toMatchObject({ sessions: 0 })
    session.socket.terminate()
  })
})
