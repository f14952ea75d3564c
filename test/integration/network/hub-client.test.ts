import { createInception, encodeCbor, type HubInfo } from '@shared/wire/index.ts'
import { describe, expect, onTestFinished, test } from 'vitest'
import { HubClient } from '../../../src-main/node/network/hub-client.ts'
import { scriptedServer } from '../../helpers/scripted-server.ts'
import { temporaryHub } from '../../helpers/temporary-hub.ts'
import { crypto, wireAgent } from '../../helpers/wire-agent.ts'

function client(url: string, aid?: string, answerWithin = 2000): HubClient {
  const agent = wireAgent()
  const made = new HubClient({
    origin: url,
    aid,
    signingKey: () => agent.signingKey,
    crypto,
    clock: { now: () => Date.now() },
    answerWithin,
  })
  onTestFinished(() => made.close())
  return made
}

function info(changes: Partial<HubInfo> = {}): HubInfo {
  const { aid, statement } = createInception(crypto, {
    privateKey: crypto.randomBytes(32),
    nextCommitment: crypto.randomBytes(32),
    at: 1,
  })
  return {
    versions: [1],
    aid,
    name: 'a hub',
    history: [statement] as HubInfo['history'],
    policy: 'open',
    time: Date.now(),
    limits: { envelopeBytes: 1, mailboxMessages: 1, mailboxBytes: 1, ratePerSecond: 1, rateBurst: 1 },
    ...changes,
  }
}

describe('a hub that is not what it should be', () => {
  test('with another identity than the pinned one is refused, and nothing names this node to it', async () => {
    const pinned = info().aid
    const { url, asked, headers } = await scriptedServer((_request, response) => response.end(encodeCbor(info())))
    await expect(client(url, pinned).info()).rejects.toMatchObject({ code: 'hub_wrong_identity' })
    expect(asked).toEqual(['/hub/v1/info'])
    expect(headers[0]).not.toHaveProperty('anet-request')
  })

  test('with a history that is not its own is refused', async () => {
    const { url } = await scriptedServer((_request, response) =>
      response.end(encodeCbor(info({ history: info().history }))),
    )
    await expect(client(url).info()).rejects.toMatchObject({ code: 'hub_wrong_identity' })
  })

  test.each([
    ['text', 200, Buffer.from('<html>hello</html>'), 'garbage'],
    ['nothing', 200, Buffer.alloc(0), 'garbage'],
    ['another object', 200, encodeCbor({ versions: 'all' }), 'garbage'],
    ['more than was asked for', 200, Buffer.alloc(4 * 1024 * 1024), 'garbage'],
    ['a redirection', 302, Buffer.alloc(0), 'garbage'],
    ['a page that was not found', 404, Buffer.from('not here'), 'garbage'],
    ['a fault', 500, Buffer.from('oops'), 'server'],
    ['a gateway fault', 502, encodeCbor({ error: { code: 'internal', message: 'x' } }), 'server'],
  ])('that answers with %s is unreachable, by name', async (_what, status, body, why) => {
    const { url } = await scriptedServer((_request, response) => {
      response.writeHead(status, { location: 'http://127.0.0.1:1/' })
      response.end(body)
    })
    await expect(client(url).info()).rejects.toMatchObject({ code: 'hub_unreachable', details: { why } })
  })

  test('that never answers is given up after a while', async () => {
    const { url } = await scriptedServer(() => {})
    await expect(client(url, undefined, 50).info()).rejects.toMatchObject({
      code: 'hub_unreachable',
      details: { why: 'timeout' },
    })
  })

  test('that stops in the middle of an answer is given up', async () => {
    const { url } = await scriptedServer((_request, response) => {
      response.writeHead(200, { 'content-length': '1000' })
      response.write('begin')
    })
    await expect(client(url, undefined, 50).info()).rejects.toMatchObject({ code: 'hub_unreachable' })
  })

  test('that is not there cannot be reached', async () => {
    const { url, server } = await scriptedServer(() => {})
    await new Promise((resolve) => server.close(resolve))
    await expect(client(url).info()).rejects.toMatchObject({ code: 'hub_unreachable', details: { why: 'connect' } })
  })

  test('that asks to wait says for how long', async () => {
    const { url } = await scriptedServer((_request, response) => {
      response.writeHead(429, { 'retry-after': '3' })
      response.end()
    })
    await expect(client(url).info()).rejects.toMatchObject({ code: 'rate_limited', details: { retryAfter: 3000 } })
  })

  test('of another version is named as that', async () => {
    const { url } = await scriptedServer((_request, response) => response.end(encodeCbor(info({ versions: [2] }))))
    await expect(client(url).info()).rejects.toMatchObject({ code: 'hub_version_unknown' })
  })

  test('behind a proxy without WebSockets has its mailbox polled', async () => {
    const { url } = await scriptedServer((_request, response) => {
      response.writeHead(400)
      response.end('upgrade required')
    })
    const events = { delivery: async () => {}, ephemeral: async () => {} }
    const options = { pingEvery: 1000, answerWithin: 1000 }
    await expect(client(url, info().aid).mailbox(events, options)).rejects.toMatchObject({
      code: 'mailbox_needs_polling',
    })
  })
})

describe('the real hub', () => {
  test('tells who it is, and its refusals keep their names', async () => {
    const hub = await temporaryHub({ policy: 'invite' })
    const stranger = client(hub.url, hub.aid)
    await expect(stranger.info()).resolves.toMatchObject({ aid: hub.aid, policy: 'invite' })
    await expect(stranger.lookup(hub.aid)).rejects.toMatchObject({ code: 'not_member' })
    const events = { delivery: async () => {}, ephemeral: async () => {} }
    const options = { pingEvery: 1000, answerWithin: 1000 }
    await expect(stranger.mailbox(events, options)).rejects.toMatchObject({ code: 'not_member' })
  })

  test('pins the identity that it showed first', async () => {
    const hub = await temporaryHub()
    const made = client(hub.url)
    await made.info()
    expect(made.aid).toBe(hub.aid)
  })
})
