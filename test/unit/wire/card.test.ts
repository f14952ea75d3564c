import { describe, expect, it } from 'vitest'
import { readNetworkCard, verifyCardWithdrawal, verifyHistory, verifyNetworkCard } from '@shared/wire/index.ts'
import { cardOf, codeOf, crypto, day, KeyHolder, start } from '../../helpers/key-holder.ts'

const agent = new KeyHolder('a')
const history = verifyHistory(crypto, agent.history)

function refusal(card: ReturnType<KeyHolder['card']>, now = start): string | undefined {
  return codeOf(() => verifyNetworkCard(crypto, card, history, now))
}

describe('a network card', () => {
  it('holds the A2A card byte by byte as its author wrote it', () => {
    const json = `{ "name":"Straße",  ${JSON.stringify(cardOf('x')).slice(1)}`
    const { network, card } = verifyNetworkCard(crypto, agent.card(3, {}, json), history, start)
    expect(new TextDecoder().decode(network.card)).toBe(json)
    expect(card.name).toBe('x')
    expect(network.seq).toBe(3)
  })

  it('counts from its issue to its end, and for 30 days at most', () => {
    const card = agent.card(1)
    expect(refusal(card, start + 30 * day - 1)).toBeUndefined()
    expect(refusal(card, start + 30 * day)).toBe('card_expired')
    expect(refusal(agent.card(1, { exp: start + 30 * day + 1 }))).toBe('card_expired')
    expect(refusal(card, start - 10 * 60_000)).toBeUndefined()
    expect(refusal(card, start - 11 * 60_000)).toBe('card_from_future')
  })

  it('is refused by name', () => {
    const other = new KeyHolder('b')
    expect(refusal(other.card(1))).toBe('statement_wrong_author')
    expect(refusal({ ...agent.card(1), sigs: other.card(1).sigs })).toBe('statement_bad_signature')
    expect(refusal({ ...agent.card(1), v: agent.card(2).v })).toBe('statement_bad_signature')
    expect(refusal(agent.keySet(1))).toBe('statement_wrong_type')
    expect(refusal(agent.card(1, {}, 'no JSON'))).toBe('card_malformed')
    expect(refusal(agent.card(1, {}, { name: 'no card' }))).toBe('card_malformed')
    expect(refusal(agent.card(1, { card: Uint8Array.of(0xff, 0xfe) }))).toBe('card_malformed')
    expect(refusal(agent.card(1, {}, { ...cardOf('x'), description: 'x'.repeat(300_000) }))).toBe('statement_too_large')
    expect(refusal(agent.card(1, { must: ['price'], price: 5 }))).toBe('statement_must_understand')
  })

  it('is refused, not fatal, if its JSON is nested without end', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const json = `${JSON.stringify(cardOf('x')).slice(0, -1)},"securitySchemes":{"a":${deep}}}`
    expect(codeOf(() => readNetworkCard(agent.card(1, {}, json)))).toBe('card_malformed')
  })
})

describe('a withdrawal', () => {
  it('is signed by the agent it is about', () => {
    expect(verifyCardWithdrawal(crypto, agent.withdrawal(4), history).seq).toBe(4)
    expect(codeOf(() => verifyCardWithdrawal(crypto, new KeyHolder('b').withdrawal(4), history))).toBe(
      'statement_wrong_author',
    )
    expect(codeOf(() => verifyCardWithdrawal(crypto, agent.card(4), history))).toBe('statement_wrong_type')
  })
})
