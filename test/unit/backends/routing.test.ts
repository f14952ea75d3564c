import { backendSchema } from '@shared/config/index.ts'
import { expect, test } from 'vitest'
import { isTextOnly, selectBackend, takesPeer } from '../../../src-main/node/modules/a2a/backends/routing.ts'

const backend = (match: string, more = {}) => ({
  config: backendSchema.parse({ match, url: 'unix:///run/agent.sock', ...more }),
})
const message = (metadata?: Record<string, string>) => ({
  messageId: 'm',
  role: 'ROLE_USER' as const,
  parts: [{ text: 'hello' }],
  ...(metadata && { metadata }),
})

test('the skill that a message names chooses the backend, and "*" takes the rest', () => {
  const backends = [backend('*'), backend('translate')]
  expect(selectBackend(backends, [], message())?.config.match).toBe('*')
  expect(selectBackend(backends, [], message({ 'anet.skill': 'translate' }))?.config.match).toBe('translate')
  expect(selectBackend(backends, [], message({ 'anet.skill': 'other' }))?.config.match).toBe('*')
  expect(selectBackend([backend('translate')], [], message())).toBeUndefined()
})

test('a skill may name its backend in the settings', () => {
  const skill = {
    id: 'de',
    name: 'German',
    description: '',
    tags: [],
    examples: [],
    public: true,
    backend: 'translate',
  }
  const backends = [backend('*'), backend('translate')]
  expect(selectBackend(backends, [skill], message({ 'anet.skill': 'de' }))?.config.match).toBe('translate')
})

test('only text is forwarded', () => {
  expect(isTextOnly(message())).toBe(true)
  expect(isTextOnly({ ...message(), parts: [{ text: 'see' }, { raw: 'AAAA' }] })).toBe(false)
  expect(isTextOnly({ ...message(), parts: [{ data: { a: 1 } }] })).toBe(false)
  const file = { name: '0'.repeat(64), key: 'k', size: 300_000, sha256: '0'.repeat(64) }
  expect(isTextOnly({ ...message(), parts: [{ large: { field: 'text', file } }] })).toBe(true)
  expect(isTextOnly({ ...message(), parts: [{ large: { field: 'raw', file } }] })).toBe(false)
})

test('strangers are forwarded only to a backend that the operator called toolless', () => {
  expect(takesPeer(backend('*').config, true)).toBe(true)
  expect(takesPeer(backend('*').config, false)).toBe(false)
  expect(takesPeer(backend('*', { toolless: true }).config, false)).toBe(false)
  expect(takesPeer(backend('*', { toolless: true, accept_untrusted: true }).config, false)).toBe(true)
})
