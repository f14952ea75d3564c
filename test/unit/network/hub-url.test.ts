import { expect, test } from 'vitest'
import { hubOrigin } from '../../../src-main/node/network/hub-url.ts'
import { parseRetryAfter } from '../../../src-main/node/network/hub-http.ts'
import { backoff } from '../../../src-main/node/network/backoff.ts'

test.each([
  ['https://hub.example', 'https://hub.example'],
  ['https://hub.example:8443/', 'https://hub.example:8443'],
  ['http://127.0.0.1:4000', 'http://127.0.0.1:4000'],
  ['http://localhost:4000', 'http://localhost:4000'],
  ['http://[::1]:4000', 'http://[::1]:4000'],
])('%s is the address of a hub', (text, origin) => {
  expect(hubOrigin(text)).toBe(origin)
})

test.each([
  ['http://hub.example', 'hub_needs_https'],
  ['http://localhost.example', 'hub_needs_https'],
  ['http://10.0.0.1', 'hub_needs_https'],
  ['hub.example', 'hub_url_invalid'],
  ['ftp://hub.example', 'hub_url_invalid'],
  ['https://hub.example/path', 'hub_url_invalid'],
  ['https://user:secret@hub.example', 'hub_url_invalid'],
  ['https://hub.example/?q=1', 'hub_url_invalid'],
])('%s is refused: %s', (text, code) => {
  expect(() => hubOrigin(text)).toThrow(expect.objectContaining({ code }) as Error)
})

test.each([
  ['7', 7000],
  ['0', 0],
  ['86400', 300_000],
  ['Thu, 01 Jan 2026 00:00:10 GMT', 10_000],
  ['soon', 1000],
  [undefined, 1000],
])('Retry-After %s waits %s ms', (value, ms) => {
  expect(parseRetryAfter(value, Date.parse('2026-01-01T00:00:00Z'))).toBe(ms)
})

test('waits grow, spread, and end at their longest', () => {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const whole = Math.min(60_000, 500 * 2 ** attempt)
    const wait = backoff(attempt, 500, 60_000)
    expect(wait).toBeGreaterThanOrEqual(whole / 2)
    expect(wait).toBeLessThanOrEqual(whole)
  }
})
