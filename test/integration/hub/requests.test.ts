import { describe, expect, it } from 'vitest'
import {
  authHeader,
  decodeBase64Url,
  encodeBase64Url,
  encodeCbor,
  hubInfoSchema,
  hubPaths,
  signHubRequest,
  signStatement,
  verifyHistory,
} from '@shared/wire/index.ts'
import { crypto, decoded, envelopeTo, errorCode, HubAgent, request, unknownAid } from '../../helpers/hub-agent.ts'
import { joinedAgent, temporaryDirectory, temporaryHub } from '../../helpers/temporary-hub.ts'

const lookup = hubPaths.lookup
const minute = 60_000

describe('requests to a hub', () => {
  it('may ask who it is without being signed', async () => {
    const hub = await temporaryHub({ name: 'Test hub' })
    const info = hubInfoSchema.parse(decoded(await request(hub.url, 'GET', hubPaths.info, undefined, {})))
    expect(info).toMatchObject({ versions: [1], aid: hub.aid, name: 'Test hub', policy: 'open' })
    expect(info.limits).toMatchObject({ mailboxMessages: 5000, ratePerSecond: 20, rateBurst: 200 })
    expect(verifyHistory(crypto, info.history, hub.aid).seq).toBe(0)
  })

  it('are refused when the signature does not fit the request that carries it', async () => {
    const hub = await temporaryHub()
    const agent = await joinedAgent(hub)
    const other = await joinedAgent(hub)
    const body = encodeCbor({ aid: other.aid })
    const forAnother = { hub: unknownAid(), time: Date.now(), method: 'POST', path: lookup, body }
    const stranger = new HubAgent(hub)
    const claimed = { hub: hub.aid, aid: other.aid, ksn: 0, time: Date.now(), method: 'POST', path: lookup }
    const claim = { ...claimed, nonce: crypto.randomBytes(16), body: crypto.sha256(body) }
    const tampered = decodeBase64Url(agent.sign(lookup, body), 8192)
    tampered[tampered.length - 1] = (tampered.at(-1) ?? 0) ^ 1
    const headers: Record<string, string> = {
      'no header': '',
      'not base64url': '!!!',
      'not CBOR': encodeBase64Url(crypto.randomBytes(300)),
      'too long': 'A'.repeat(12_000),
      'for another hub': signHubRequest(crypto, agent.key, forAnother),
      'for another path': agent.sign(hubPaths.search, body),
      'for another query': agent.sign(`${lookup}?a=1`, body),
      'for another method': agent.sign(lookup, body, 'PUT'),
      'for another body': agent.sign(lookup, encodeCbor({ aid: agent.aid })),
      'with one bit changed': encodeBase64Url(tampered),
      'by another key': encodeBase64Url(
        encodeCbor(signStatement(crypto, 'hub-request', claim, [{ ...stranger.key, aid: other.aid }])),
      ),
      'by another agent': encodeBase64Url(encodeCbor(signStatement(crypto, 'hub-request', claim, [agent.key]))),
      'with another type of statement': encodeBase64Url(encodeCbor(signStatement(crypto, 'card', claim, [other.key]))),
    }
    for (const [what, header] of Object.entries(headers)) {
      const answer = await request(hub.url, 'POST', lookup, body, header === '' ? {} : { [authHeader]: header })
      expect([what, answer.status], what).toEqual([
        what,
        expect.toSatisfy((status) => [400, 401, 413].includes(status)),
      ])
    }
    expect(decoded(await agent.post(lookup, body))).toMatchObject({ aid: other.aid })
    expect(errorCode(await stranger.post(lookup, body))).toBe('not_member')
  })

  it('are refused when their time is more than five minutes off', async () => {
    const hub = await temporaryHub()
    const agent = await joinedAgent(hub)
    const ask = (offset: number) => {
      agent.now = () => Date.now() + offset
      return agent.post(lookup, { aid: agent.aid })
    }
    expect(errorCode(await ask(-5 * minute - 1000))).toBe('stale_request')
    expect(errorCode(await ask(5 * minute + 1000))).toBe('stale_request')
    expect(errorCode(await ask(-5 * minute + 5000))).toBeUndefined()
    expect(errorCode(await ask(5 * minute - 5000))).toBeUndefined()
  })

  it('are answered once, also when the hub was restarted in between', async () => {
    const dataDir = `${await temporaryDirectory()}/hub`
    const hub = await temporaryHub({ dataDir })
    const agent = await joinedAgent(hub)
    const body = encodeCbor({ aid: agent.aid })
    const header = agent.sign(lookup, body)
    const envelope = envelopeTo(agent.aid)
    const sendHeader = agent.sign(hubPaths.send, envelope)
    expect(errorCode(await agent.post(lookup, body, header))).toBeUndefined()
    expect(errorCode(await agent.post(lookup, body, header))).toBe('replayed_request')
    const both = await Promise.all([1, 2].map(() => agent.post(hubPaths.send, envelope, sendHeader)))
    expect(new Set(both.map(errorCode))).toEqual(new Set([undefined, 'replayed_request']))
    await hub.stop()

    agent.hub.url = (await temporaryHub({ dataDir })).url
    expect(errorCode(await agent.post(lookup, body, header))).toBe('replayed_request')
    expect(errorCode(await agent.post(hubPaths.send, envelope, sendHeader))).toBe('replayed_request')
    expect(await agent.poll()).toHaveLength(1)
  })

  it('stay answered once when the clock goes back behind what the hub has forgotten', async () => {
    let now = Date.now()
    const clock = { now: () => now }
    const hub = await temporaryHub({ clock, limits: { sweepEvery: 5 } })
    const agent = await joinedAgent(hub, clock.now)
    const body = encodeCbor({ aid: agent.aid })
    const header = agent.sign(lookup, body)
    expect(errorCode(await agent.post(lookup, body, header))).toBeUndefined()
    const begun = now
    now += 20 * minute
    await expect
      .poll(async () => {
        now = begun
        const code = errorCode(await agent.post(lookup, body, header))
        now = begun + 20 * minute
        return code
      })
      .toBe('stale_request')
    expect(errorCode(await agent.post(lookup, body))).toBeUndefined()
  })

  it('are refused with their reason when the body is not what the route takes', async () => {
    const hub = await temporaryHub()
    const agent = await joinedAgent(hub)
    const bodies: [string, Uint8Array][] = [
      [lookup, crypto.randomBytes(64)],
      [lookup, new Uint8Array()],
      [lookup, encodeCbor({ aid: 'somebody' })],
      [lookup, encodeCbor({ aid: agent.aid, must: ['fly'] })],
      [lookup, Uint8Array.of(0xa1, 0x78, 0x03, 0x61, 0x69, 0x64, 0x01)],
      [hubPaths.search, encodeCbor({ limit: 0 })],
      [hubPaths.search, encodeCbor({ limit: 201 })],
      [hubPaths.search, encodeCbor({ q: 'x'.repeat(513) })],
      [hubPaths.search, encodeCbor({ cursor: 'AAAA' })],
      [hubPaths.poll, encodeCbor({ waitMs: 60_001, max: 1 })],
      [hubPaths.poll, encodeCbor({ waitMs: 0, max: 257 })],
      [hubPaths.acknowledge, encodeCbor({ ids: [] })],
      [hubPaths.send, crypto.randomBytes(500)],
      [hubPaths.send, new Uint8Array()],
      [hubPaths.join, encodeCbor({ history: [] })],
      [hubPaths.join, encodeCbor({ history: agent.history })],
      [hubPaths.publish, encodeCbor({ card: agent.keyset() })],
      [hubPaths.publish, encodeCbor({ keyset: 1 })],
    ]
    for (const [path, body] of bodies) {
      const answer = await agent.post(path, body)
      expect([path, answer.status, errorCode(answer)]).toEqual([path, 400, 'bad_request'])
    }
    expect(errorCode(await agent.post('/hub/v1/nothing', {}))).toBe('not_found')
    expect(errorCode(await agent.post('/hub/v2/lookup', {}))).toBe('not_found')
    expect(errorCode(await request(hub.url, 'GET', lookup, undefined, {}))).toBe('not_found')
  })

  it('are signed with the key in use, not with one before', async () => {
    const hub = await temporaryHub()
    const agent = await joinedAgent(hub)
    const old = agent.key
    agent.rotate()
    expect(errorCode(await agent.post(lookup, { aid: agent.aid }))).toBe('bad_signature')
    expect(errorCode(await agent.publish({ history: agent.history, keyset: agent.keyset() }))).toBeUndefined()
    expect(errorCode(await agent.post(lookup, { aid: agent.aid }))).toBeUndefined()
    agent.key = old
    expect(errorCode(await agent.post(lookup, { aid: agent.aid }))).toBe('bad_signature')
    await expect(agent.open()).rejects.toThrow('bad_signature')
  })

  it('have a rate for each agent', async () => {
    let now = Date.now()
    const limits = { ratePerSecond: 2, rateBurst: 3, requestsPerSecond: 2, requestBurst: 3 }
    const hub = await temporaryHub({ limits, clock: { now: () => now } })
    const agent = await joinedAgent(hub, () => now)
    const other = await joinedAgent(hub, () => now)
    for (let sent = 0; sent < 3; sent += 1) expect(errorCode(await agent.send(other.aid))).toBeUndefined()
    const refused = await agent.send(other.aid)
    expect([refused.status, errorCode(refused), refused.headers.get('retry-after')]).toEqual([429, 'rate_limited', '1'])
    expect(errorCode(await other.send(agent.aid))).toBeUndefined()
    // other requests have their own rate
    for (let asked = 0; asked < 3; asked += 1) await agent.lookup(other.aid)
    expect(errorCode(await agent.post(lookup, { aid: other.aid }))).toBe('rate_limited')
    now += 1000
    expect(errorCode(await agent.send(other.aid))).toBeUndefined()
    await agent.lookup(other.aid)
  })

  it('without a known agent have a rate for each address', async () => {
    const hub = await temporaryHub({ limits: { addressPerSecond: 0.1, addressBurst: 2 } })
    const info = () => request(hub.url, 'GET', hubPaths.info, undefined, {})
    expect((await info()).status).toBe(200)
    expect((await info()).status).toBe(200)
    const refused = await info()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10'])
    expect(errorCode(await new HubAgent(hub).join())).toBe('rate_limited')
  })
})
