import { describe, expect, it } from 'vitest'
import type { AgentCard } from '@shared/a2a/index.ts'
import { cardIndex, queryWords } from '../../../src-hub/membership/card-index.ts'

const card = (skills: readonly { id: string; tags: string[] }[]): AgentCard => ({
  name: 'Weather 天気',
  description: 'Tells the weather',
  supportedInterfaces: [],
  version: '1',
  capabilities: {},
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: skills.map((skill) => ({ ...skill, name: `Name of ${skill.id}`, description: `About ${skill.id}` })),
})

describe('words by which a card is found', () => {
  it('are skill ids and tags once each, and the text of all', () => {
    const index = cardIndex(
      card([
        { id: 'forecast', tags: ['rain', 'sun'] },
        { id: 'history', tags: ['rain'] },
      ]),
    )
    expect(index.skills).toEqual(['forecast', 'history'])
    expect(index.tags).toEqual(['rain', 'sun'])
    expect(index.text).toContain('Tells the weather')
    expect(index.text).toContain('About history')
    expect(index.text).toContain('天  気')
  })

  it('are bounded, whatever a card brings', () => {
    const skills = Array.from({ length: 256 }, (_, at) => ({
      id: `skill ${at} ${'x'.repeat(at > 200 ? 300 : 0)}`,
      tags: Array.from({ length: 64 }, (_tag, tag) => `${at}/${tag}`),
    }))
    const index = cardIndex(card(skills))
    expect(index.skills).toHaveLength(201)
    expect(index.tags).toHaveLength(512)
    expect(index.text.length).toBeLessThanOrEqual(64 * 1024)
  })
})

describe('words of a query', () => {
  it.each([
    [undefined, undefined],
    ['  ', undefined],
    ['Rain  in Köln', ['Rain', 'in', 'Köln']],
    ['co-op "quoted" NEAR(a b) x*', ['co', 'op', 'quoted', 'NEAR', 'a', 'b', 'x']],
    ['天気', ['天', '気']],
    ['--- ***', []],
  ])('of %j are %j', (q, words) => {
    expect(queryWords(q)).toEqual(words)
  })
})
