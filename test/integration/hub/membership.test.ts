import { describe, expect, it } from 'vitest'
import { hubPaths, verifyHistory, verifyKeySet } from '@shared/wire/index.ts'
import { crypto, decoded, encoded, errorCode, HubAgent } from '../../helpers/hub-agent.ts'
import { askAdmin, joinedAgent, temporaryHub } from '../../helpers/temporary-hub.ts'

describe('joining a hub', () => {
  it('takes in whoever proves an AID, again and again', async () => {
    const hub = await temporaryHub()
    const agent = new HubAgent(hub)
    expect(decoded(await agent.join())).toEqual({ state: 'member' })
    expect(decoded(await agent.join())).toEqual({ state: 'member' })
    const thief = new HubAgent(hub)
    const stolen = { history: agent.history, keyset: agent.keyset() }
    expect(errorCode(await thief.post(hubPaths.join, stolen))).toBe('bad_request')
    const foreign = { history: thief.history, keyset: agent.keyset() }
    expect(errorCode(await thief.post(hubPaths.join, foreign))).toBe('bad_signature')
  })

  it('needs an invite where the hub says so, and each invite serves once', async () => {
    const hub = await temporaryHub({ policy: 'invite' })
    const invite = await hub.createInvite()
    const [first, second] = [new HubAgent(hub), new HubAgent(hub)]
    expect(errorCode(await first.join())).toBe('invite_required')
    expect(errorCode(await first.join({ invite: 'guessed' }))).toBe('invite_invalid')
    const both = await Promise.all([first.join({ invite }), second.join({ invite })])
    expect(new Set(both.map(errorCode))).toEqual(new Set([undefined, 'invite_invalid']))
    const member = errorCode(both[0]) === undefined ? first : second
    // a member whose answer was lost asks again, with or without its used invite
    expect(errorCode(await member.join({ invite }))).toBeUndefined()
    expect(errorCode(await member.join())).toBeUndefined()
  })

  it('does not take an invite that has expired', async () => {
    let now = Date.now()
    const hub = await temporaryHub({ policy: 'invite', clock: { now: () => now } })
    const invite = await hub.createInvite({ validFor: 1000 })
    now += 1000
    expect(errorCode(await new HubAgent(hub, () => now).join({ invite }))).toBe('invite_invalid')
  })

  it('waits for the operator where the hub says so', async () => {
    const hub = await temporaryHub({ policy: 'admit' })
    const agent = new HubAgent(hub)
    expect(decoded(await agent.join({ card: agent.card() }))).toEqual({ state: 'waiting' })
    expect(errorCode(await agent.post(hubPaths.search, {}))).toBe('waiting_for_admission')
    await expect(agent.open()).rejects.toThrow('waiting_for_admission')
    expect((await askAdmin(hub, 'POST', `/admin/v1/members/${agent.aid}/admit`)).status).toBe(200)
    expect(decoded(await agent.join())).toEqual({ state: 'member' })
    expect((await agent.search()).agents).toHaveLength(1)
  })

  it('ends when the operator removes the agent, also for its open session', async () => {
    const hub = await temporaryHub()
    const agent = await joinedAgent(hub)
    const other = await joinedAgent(hub)
    const session = await agent.open()
    expect((await askAdmin(hub, 'POST', `/admin/v1/members/${agent.aid}/remove`)).status).toBe(200)
    expect(await session.closed).toBe(4003)
    expect(errorCode(await agent.join())).toBe('removed')
    expect(errorCode(await agent.post(hubPaths.search, {}))).toBe('removed')
    expect(errorCode(await agent.publish({ keyset: agent.keyset() }))).toBe('removed')
    expect(errorCode(await other.send(agent.aid))).toBe('unknown_agent')
    expect(errorCode(await other.post(hubPaths.lookup, { aid: agent.aid }))).toBe('unknown_agent')
    expect((await askAdmin(hub, 'POST', `/admin/v1/members/${agent.aid}/admit`)).status).toBe(200)
    expect(errorCode(await agent.join())).toBeUndefined()
  })

  it('ends a waiting long poll when the operator removes the agent', async () => {
    const hub = await temporaryHub()
    const agent = await joinedAgent(hub)
    const polling = agent.post(hubPaths.poll, { waitMs: 60_000, max: 1 })
    await expect.poll(async () => (await askAdmin(hub, 'GET', '/metrics')).json).toContain('anet_hub_polls 1')
    await askAdmin(hub, 'POST', `/admin/v1/members/${agent.aid}/remove`)
    expect(errorCode(await polling)).toBe('removed')
  })

  it('ends where the hub is full', async () => {
    const hub = await temporaryHub({ limits: { members: 1 } })
    await joinedAgent(hub)
    const refused = await new HubAgent(hub).join()
    expect([refused.status, errorCode(refused)]).toEqual([429, 'rate_limited'])
  })
})

describe('publishing at a hub', () => {
  it('shows others the rotated keys at once', async () => {
    const hub = await temporaryHub()
    const agent = await joinedAgent(hub)
    const reader = await joinedAgent(hub)
    for (const emergency of [false, true]) {
      agent.rotate({ emergency })
      expect(errorCode(await agent.publish({ history: agent.history, keyset: agent.keyset() }))).toBeUndefined()
      const record = await reader.lookup(agent.aid)
      const history = verifyHistory(crypto, record.history, agent.aid)
      expect(history.seq).toBe(agent.key.ksn)
      expect(verifyKeySet(crypto, record.keyset, history).aid).toBe(agent.aid)
    }
  })

  it('hides a card that the key in use did not sign', async () => {
    const hub = await temporaryHub()
    const agent = new HubAgent(hub)
    await agent.join({ card: agent.card() })
    const reader = await joinedAgent(hub)
    expect((await reader.search()).agents).toHaveLength(1)
    agent.rotate()
    await agent.publish({ history: agent.history, keyset: agent.keyset() })
    expect((await reader.search()).agents).toHaveLength(0)
    expect((await reader.lookup(agent.aid)).card).toBeUndefined()
    await agent.publish({ card: agent.card() })
    expect((await reader.search()).agents).toHaveLength(1)
  })

  it('refuses a shorter history as a rollback, and keeps what it had', async () => {
    const hub = await temporaryHub()
    const agent = await joinedAgent(hub)
    const before = agent.clone()
    agent.rotate()
    await agent.publish({ history: agent.history, keyset: agent.keyset() })
    expect(errorCode(await agent.publish({ history: before.history }))).toBe('rollback')
    expect(errorCode(await before.join())).toBe('rollback')
    expect((await agent.lookup(agent.aid)).history).toHaveLength(2)
  })

  it('refuses a contradicting history as a fork, and keeps both as proof', async () => {
    const hub = await temporaryHub()
    const agent = await joinedAgent(hub)
    const copy = agent.clone()
    agent.rotate()
    copy.rotate()
    await agent.publish({ history: agent.history, keyset: agent.keyset() })
    expect(errorCode(await copy.publish({ history: copy.history, keyset: copy.keyset() }))).toBe('fork')
    expect(errorCode(await copy.join())).toBe('fork')
    expect(encoded((await agent.lookup(agent.aid)).history)).toBe(encoded(agent.history))

    const { json } = await askAdmin(hub, 'GET', '/admin/v1/forks')
    const { forks } = json as { forks: { aid: string; kind: string; seq: number; known: string; other: string }[] }
    expect(forks).toMatchObject([{ aid: agent.aid, kind: 'history', seq: 1 }])
    expect(forks[0]?.known).not.toBe(forks[0]?.other)
  })

  it('holds key set and card to ever higher numbers', async () => {
    const hub = await temporaryHub()
    const agent = await joinedAgent(hub)
    const base = Date.now() + 100_000
    const keyset = agent.keyset(base)
    const card = agent.card({ name: 'First' }, { seq: base })
    expect(errorCode(await agent.publish({ keyset, card }))).toBeUndefined()
    expect(errorCode(await agent.publish({ keyset, card }))).toBeUndefined()
    expect(errorCode(await agent.publish({ keyset: agent.keyset(base - 1) }))).toBe('rollback')
    expect(errorCode(await agent.publish({ keyset: agent.keyset(base) }))).toBe('fork')
    expect(errorCode(await agent.publish({ card: agent.card({}, { seq: base - 1 }) }))).toBe('rollback')
    expect(errorCode(await agent.publish({ card: agent.card({ name: 'Other' }, { seq: base }) }))).toBe('fork')
    expect(errorCode(await agent.publish({ withdrawal: agent.withdrawal(base) }))).toBe('fork')
    expect(encoded((await agent.lookup(agent.aid)).card)).toBe(encoded(card))
    expect(errorCode(await agent.publish({ card: agent.card({ name: 'Second' }, { seq: base + 1 }) }))).toBeUndefined()
    const { json } = await askAdmin(hub, 'GET', '/admin/v1/status')
    expect(json).toMatchObject({ forks: 3 })
  })

  it('withdraws a card for good: an older one cannot follow, a newer one can', async () => {
    const hub = await temporaryHub()
    const agent = await joinedAgent(hub)
    const base = Date.now() + 100_000
    await agent.publish({ card: agent.card({}, { seq: base }) })
    const withdrawal = agent.withdrawal(base + 2)
    expect(errorCode(await agent.publish({ withdrawal }))).toBeUndefined()
    expect(errorCode(await agent.publish({ withdrawal }))).toBeUndefined()
    expect((await agent.search()).agents).toHaveLength(0)
    const withdrawn = await agent.lookup(agent.aid)
    expect(withdrawn.card).toBeUndefined()
    expect(withdrawn.withdrawal).toEqual(withdrawal)
    expect(errorCode(await agent.publish({ card: agent.card({}, { seq: base + 1 }) }))).toBe('rollback')
    expect(errorCode(await agent.publish({ card: agent.card({}, { seq: base + 3 }) }))).toBeUndefined()
    expect((await agent.search()).agents).toHaveLength(1)
  })

  it('refuses cards that nobody could use', async () => {
    const hub = await temporaryHub()
    const agent = await joinedAgent(hub)
    const day = 24 * 60 * 60_000
    const other = await joinedAgent(hub)
    expect(errorCode(await agent.publish({ card: agent.card({}, { exp: Date.now() - 1 }) }))).toBe('bad_request')
    expect(errorCode(await agent.publish({ card: agent.card({}, { exp: Date.now() + 31 * day }) }))).toBe('bad_request')
    expect(errorCode(await agent.publish({ card: other.card() }))).toBe('bad_signature')
    const large = agent.card({ description: 'x'.repeat(16_385) })
    expect(errorCode(await agent.publish({ card: large }))).toBe('bad_request')
  })

  it('ends with a deactivation, which others still see', async () => {
    const hub = await temporaryHub()
    const agent = new HubAgent(hub)
    await agent.join({ card: agent.card() })
    const reader = await joinedAgent(hub)
    agent.deactivate()
    expect(errorCode(await agent.publish({ history: agent.history }))).toBeUndefined()
    expect(errorCode(await agent.post(hubPaths.search, {}))).toBe('bad_signature')
    expect((await reader.search()).agents).toHaveLength(0)
    const record = await reader.lookup(agent.aid)
    expect(verifyHistory(crypto, record.history, agent.aid).key).toBeNull()
    expect(errorCode(await reader.send(agent.aid))).toBe('unknown_agent')
  })
})
