import { configSchema, parseDuration } from '@shared/config/index.ts'
import { expect, test } from 'vitest'

const backends = (...list: object[]) => configSchema.safeParse({ modules: { a2a: { backends: list } } })
const messages = (result: ReturnType<typeof backends>) => result.error?.issues.map((issue) => issue.message)

test('a unix socket is accepted, http only with allow_tcp, anything else never', () => {
  expect(backends({ match: '*', url: 'unix:///run/agent.sock' }).success).toBe(true)
  expect(messages(backends({ match: '*', url: 'http://127.0.0.1:9000' }))).toEqual([
    'an http or https backend needs allow_tcp: true',
  ])
  expect(backends({ match: '*', url: 'http://127.0.0.1:9000', allow_tcp: true }).success).toBe(true)
  for (const url of ['unix://relative.sock', 'ftp://host', '/run/agent.sock']) {
    expect(backends({ match: '*', url }).success).toBe(false)
  }
})

test('a second backend for the same skill is rejected', () => {
  const one = { match: '*', url: 'unix:///run/a.sock' }
  expect(messages(backends(one, { ...one, url: 'unix:///run/b.sock' }))).toEqual(['a second backend matches "*"'])
})

test('accept_untrusted needs toolless and never goes with the open policy', () => {
  const open = { match: '*', url: 'unix:///run/a.sock', accept_untrusted: true }
  expect(messages(backends(open))).toEqual(['accept_untrusted needs toolless: true'])
  expect(backends({ ...open, toolless: true }).success).toBe(true)
  const config = { inbound: { policy: 'open' }, modules: { a2a: { backends: [{ ...open, toolless: true }] } } }
  expect(configSchema.safeParse(config).success).toBe(false)
})

test('durations are those of Go', () => {
  expect(parseDuration('2m')).toBe(120_000)
  expect(parseDuration('1h30m')).toBe(5_400_000)
  expect(parseDuration('1.5s')).toBe(1500)
  expect(parseDuration('0')).toBe(0)
  for (const text of ['', '5', '5 m', '-1s', '5d']) expect(() => parseDuration(text)).toThrow(/not a duration/)
})
