import { flattenedVerify } from 'jose'
import canonicalize from 'canonicalize'
import { describe, expect, test } from 'vitest'
import { agentCardSchema, extensionUris } from '@shared/a2a/index.ts'
import {
  agent,
  type EndpointDesk,
  endpointDesk,
  otherAgent,
  own,
  remoteCard,
  verifiedPeer,
} from '../../helpers/endpoint-desk.ts'

function get(desk: EndpointDesk, path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${desk.port}${path}`, { headers: { ...desk.headers, ...headers } })
}

async function card(desk: EndpointDesk, aid: string) {
  return (await get(desk, `/a2a/v1/agents/${aid}`)).json()
}

function origin(proxy: { capabilities: { extensions: { uri: string; params: Record<string, unknown> }[] } }) {
  return proxy.capabilities.extensions.find(({ uri }) => uri === extensionUris.origin)?.params
}

describe('proxy card', () => {
  test('is the same bytes with the same ETag on every path, with and without a trailing slash', async () => {
    const desk = await endpointDesk()
    const base = `/a2a/v1/agents/${agent}`
    const answers = await Promise.all(
      ['', '/', '/.well-known/agent-card.json', '/.well-known/agent-card.json/'].map((path) =>
        get(desk, `${base}${path}`),
      ),
    )
    const texts = await Promise.all(answers.map((answer) => answer.text()))
    expect(new Set(texts).size).toBe(1)
    for (const answer of answers) {
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
      expect(answer.headers.get('cache-control')).toBe('private, max-age=300')
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
      expect(answer.headers.get('etag')).toBe(answers[0]?.headers.get('etag'))
    }
    const etag = answers[0]?.headers.get('etag') ?? ''
    for (const match of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const cached = await get(desk, base, { 'if-none-match': match })
      expect([cached.status, await cached.text()]).toEqual([304, ''])
    }
    expect((await get(desk, base, { 'if-none-match': '"other"' })).status).toBe(200)
    const head = await fetch(desk.url(), { method: 'HEAD', headers: desk.headers })
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect((await fetch(desk.url(), { method: 'POST', headers: desk.headers })).status).toBe(405)
  })

  test('is an A2A card: name unchanged, interfaces of this listener, local bearer token, no push', async () => {
    const desk = await endpointDesk()
    const proxy = await card(desk, agent)
    expect(agentCardSchema.safeParse(proxy).success).toBe(true)
    expect(proxy.name).toBe(remoteCard.name)
    expect(proxy.description).toContain('roxy card')
    expect(proxy.supportedInterfaces).toEqual([
      { url: `${desk.url()}/jsonrpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: `${desk.url()}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    ])
    expect(proxy.capabilities).toMatchObject({ streaming: true, pushNotifications: false, extendedAgentCard: false })
    expect(proxy.securitySchemes.anetLocal.httpAuthSecurityScheme.scheme).toBe('Bearer')
    expect(proxy.securityRequirements).toEqual([{ schemes: { anetLocal: { list: ['a2a'] } } }])
    expect(proxy.skills).toEqual([{ id: 'shine', name: 'Shine', description: 'Turns on the light.', tags: ['light'] }])
  })

  test('is signed by this node over its canonical wire form', async () => {
    const desk = await endpointDesk()
    const { signatures, ...content } = await card(desk, agent)
    expect(signatures).toHaveLength(1)
    const payload = Buffer.from(canonicalize(content) ?? '').toString('base64url')
    const verified = await flattenedVerify({ ...signatures[0], payload }, desk.publicKey)
    expect(verified.protectedHeader).toEqual({ alg: 'EdDSA', typ: 'JOSE', kid: `${own}#0` })
    const forged = Buffer.from(canonicalize({ ...content, name: 'Other' }) ?? '').toString('base64url')
    await expect(flattenedVerify({ ...signatures[0], payload: forged }, desk.publicKey)).rejects.toThrow()
  })

  test('carries the signed card of a verified agent, and nothing of one that was not verified', async () => {
    const desk = await endpointDesk()
    expect(origin(await card(desk, agent))).toEqual({
      aid: agent,
      originVerification: 'VERIFIED',
      keyState: 'stale',
      originCard: Buffer.from(`signed bytes of ${agent}`).toString('base64url'),
    })
    const placeholder = await card(desk, otherAgent)
    expect(placeholder.name).toBe(`agent ${otherAgent.slice(0, 12)}`)
    expect(placeholder.skills).toEqual([])
    expect(origin(placeholder)).toEqual({ aid: otherAgent, originVerification: 'UNVERIFIED', keyState: 'stale' })
    desk.peers.set(otherAgent, { ...verifiedPeer(otherAgent), forked: true })
    const text = JSON.stringify(await card(desk, otherAgent))
    expect(text).not.toContain('Lighthouse')
    expect(text).not.toContain('originCard')
  })

  test('changes with what the agent says', async () => {
    const desk = await endpointDesk()
    const before = await get(desk, `/a2a/v1/agents/${agent}`)
    desk.peers.set(agent, verifiedPeer(agent, { ...remoteCard, version: '3.2' }))
    const after = await get(desk, `/a2a/v1/agents/${agent}`)
    expect((await after.json()).version).toBe('3.2')
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'))
  })
})

describe('list', () => {
  test('describes verified agents, names the others, and leaves this node out', async () => {
    const desk = await endpointDesk()
    const answer = await get(desk, '/a2a/v1/agents')
    expect(answer.headers.get('cache-control')).toBe('private, max-age=300')
    const etag = answer.headers.get('etag') ?? ''
    expect((await get(desk, '/a2a/v1/agents/', { 'if-none-match': etag })).status).toBe(304)
    expect(await answer.json()).toEqual({
      agents: [
        {
          aid: agent,
          url: desk.url(),
          cardUrl: `${desk.url()}/.well-known/agent-card.json`,
          verification: 'VERIFIED',
          keyState: 'stale',
          name: remoteCard.name,
          homeHub: 'hub'.padEnd(59, 'd'),
          charge: 'free',
          lastSeen: '2023-11-14T22:13:20.000Z',
          reviewCount: 0,
        },
        {
          aid: otherAgent,
          url: desk.url(otherAgent),
          cardUrl: `${desk.url(otherAgent)}/.well-known/agent-card.json`,
          verification: 'UNVERIFIED',
          keyState: 'stale',
        },
      ],
      nextCursor: '',
    })
  })

  test.each([
    'limit=0',
    'limit=201',
    'limit=-1',
    'limit=1.5',
    'limit=',
    'limit=x',
    'limit=5&limit=6',
    'cursor=elsewhere',
    `q=${'q'.repeat(513)}`,
  ])('%s is 400', async (query) => {
    const desk = await endpointDesk()
    const answer = await get(desk, `/a2a/v1/agents?${query}`)
    expect(answer.status).toBe(400)
    expect((await answer.json()).error.status).toBe('INVALID_ARGUMENT')
  })

  test('limits from 1 to 200 and unknown parameters are fine', async () => {
    const desk = await endpointDesk()
    for (const query of ['limit=1', 'limit=200', 'colour=blue', 'skill=shine&tag=light&q=ship']) {
      expect((await get(desk, `/a2a/v1/agents?${query}`)).status).toBe(200)
    }
  })
})

test.each([
  '/',
  '/a2a',
  '/a2a/v1',
  '/a2a/v1/agentsx',
  '/a2a/v1/Agents',
  `/a2a/v1/agents/${agent}/nothing`,
  `/a2a/v1/agents/${agent}/rest`,
  '/%zz',
])('%s is 404 in JSON, for every method', async (path) => {
  const desk = await endpointDesk()
  for (const method of ['GET', 'POST', 'DELETE']) {
    const answer = await fetch(`http://127.0.0.1:${desk.port}${path}`, { method, headers: desk.headers })
    expect([404, 400]).toContain(answer.status)
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
    expect(answer.headers.get('x-powered-by')).toBeNull()
    expect(await answer.json()).toHaveProperty('error.message')
  }
})
