import { describe, expect, it } from 'vitest'
import { decodeBase64Url, encodeBase64Url, signHubRequest, verifyHubRequest } from '@shared/wire/index.ts'
import { codeOf, crypto, fixedBytes, KeyHolder, start } from '../../helpers/key-holder.ts'

const agent = new KeyHolder('a')
const hub = new KeyHolder('hub').aid
const body = fixedBytes('body')
const request = { hub, time: start, method: 'POST', path: '/hub/v1/send?ephemeral=1', body }
const actual = { hub, now: start, method: 'POST', path: request.path, bodyHash: crypto.sha256(body) }
const header = signHubRequest(crypto, agent.key(0), request)

function check(given: string, change: Partial<typeof actual> = {}): string | undefined {
  return codeOf(() =>
    verifyHubRequest(crypto, given, { ...actual, ...change }, (aid, ksn) =>
      aid === agent.aid && ksn === 0 ? crypto.ed25519PublicKey(agent.seed(0)) : undefined,
    ),
  )
}

describe('a signed request', () => {
  it('is good for its hub, method, path with query and body', () => {
    expect(check(header)).toBeUndefined()
    expect(check(header, { hub: agent.aid })).toBe('bad_signature')
    expect(check(header, { method: 'GET' })).toBe('bad_signature')
    expect(check(header, { path: '/hub/v1/send' })).toBe('bad_signature')
    expect(check(header, { bodyHash: crypto.sha256(new Uint8Array(0)) })).toBe('bad_signature')
  })

  it('is good for five minutes before and after its time', () => {
    const minute = 60_000
    for (const off of [5, -5]) expect(check(header, { now: start + off * minute })).toBeUndefined()
    for (const off of [5, -5])
      expect(check(header, { now: start + off * minute + Math.sign(off) })).toBe('stale_request')
  })

  it('has a nonce of its own each time', () => {
    expect(signHubRequest(crypto, agent.key(0), request)).not.toBe(header)
  })

  it('is worth nothing from an unknown agent, key number or key', () => {
    expect(check(signHubRequest(crypto, new KeyHolder('b').key(0), request))).toBe('bad_signature')
    expect(check(signHubRequest(crypto, agent.key(1), request))).toBe('bad_signature')
    expect(check(signHubRequest(crypto, { ...agent.key(0), privateKey: agent.seed(1) }, request))).toBe('bad_signature')
  })

  it('does not survive a changed byte', () => {
    const bytes = decodeBase64Url(header, 8192)
    for (let at = 0; at < bytes.byteLength; at += 1) {
      const changed = Uint8Array.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ 0x01
      expect(check(encodeBase64Url(changed))).toBeDefined()
    }
    for (const garbage of ['', '!', 'AAAA', 'a'.repeat(20_000)]) expect(check(garbage)).toBeDefined()
  })
})
