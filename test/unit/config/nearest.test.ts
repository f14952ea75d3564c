import { expect, test } from 'vitest'
import { knownKeys, nearest, suggestKey } from '../../../src-shared/config/index.ts'

test.each([
  ['polcy', 'policy'],
  ['Policy', 'policy'],
  ['inbuond', 'inbound'],
  ['hubs', 'hub'],
  ['backend', 'backends'],
  ['zzz', undefined],
  ['a', undefined],
])('"%s" is taken for %s', (word, meant) => {
  expect(nearest(word, ['policy', 'inbound', 'hub', 'backends', 'modules'])).toBe(meant)
})

test('the nearest of several wins', () => {
  expect(nearest('tokn_file', ['token_files', 'token_file'])).toBe('token_file')
})

test('the keys of every place are known, in lists and under defaults too', () => {
  expect(knownKeys([])).toContain('no_response_after')
  expect(knownKeys(['modules', 'a2a'])).toEqual(['enabled', 'backends', 'retry'])
  expect(knownKeys(['modules', 'a2a', 'backends', 3])).toContain('token_file')
  expect(knownKeys(['hub'])).toEqual(['url', 'aid'])
  expect(knownKeys(['nowhere', 'at', 'all'])).toEqual([])
})

test('a key in the wrong place is shown its own', () => {
  expect(suggestKey([], 'trust')).toBe('peers.trust')
  expect(suggestKey(['inbound'], 'level')).toBe('log.level')
  expect(suggestKey(['hub'], 'adi')).toBe('aid')
})
