import { describe, expect, it } from 'vitest'
import { hubInfoSchema, hubPaths, verifyHistory, verifyKeySet, verifyNetworkCard } from '@shared/wire/index.ts'
import { crypto, decoded, envelopeTo, errorCode, HubAgent, request, unknownAid } from '../../helpers/hub-agent.ts'
import { joinedAgents, temporaryHub } from '../../helpers/temporary-hub.ts'

describe('a hub', () => {
  it('tells who it is to whoever asks', async () => {
    const hub = await temporaryHub({ name: 'Test hub' })
    const answer = await request(hub.url, 'GET', hubPaths.info, undefined, {})
    const info = hubInfoSchema.parse(decoded(answer))
    expect(info).toMatchObject({ versions: [1], aid: hub.aid, name: 'Test hub', policy: 'open' })
    expect(verifyHistory(crypto, info.history, hub.aid).seq).toBe(0)
  })

  it('takes an agent in and shows it to another one with statements that verify', async () => {
    const hub = await temporaryHub()
    const provider = new HubAgent(hub)
    const card = provider.card({ name: 'Weather', skills: [{ id: 'forecast', tags: ['weather'] }] })
    expect(decoded(await provider.join({ card }))).toEqual({ state: 'member' })
    const [reader] = await joinedAgents(hub, 1)

    const record = await reader?.lookup(provider.aid)
    if (record === undefined) throw new Error('no record')
    const history = verifyHistory(crypto, record.history, provider.aid)
    expect(verifyKeySet(crypto, record.keyset, history).aid).toBe(provider.aid)
    if (record.card === undefined) throw new Error('no card')
    expect(verifyNetworkCard(crypto, record.card, history, Date.now()).card.name).toBe('Weather')

    const found = await reader?.search({ q: 'weath' })
    expect(found?.agents.map((agent) => agent.aid)).toEqual([provider.aid])
    expect(errorCode((await reader?.post(hubPaths.lookup, { aid: unknownAid() })) ?? Promise.reject())).toBe(
      'unknown_agent',
    )
  })

  it('delivers an envelope to a session and forgets it when it is acknowledged', async () => {
    const hub = await temporaryHub()
    const [from, to] = await joinedAgents(hub, 2)
    if (from === undefined || to === undefined) throw new Error('no agents')
    const session = await to.open()
    const envelope = envelopeTo(to.aid)
    expect(decoded(await from.post(hubPaths.send, envelope))).toEqual({ stored: true })
    const delivery = await session.nextDelivery()
    expect(Buffer.from(delivery.envelope)).toEqual(Buffer.from(envelope))
    await session.close()

    const again = await to.open()
    expect(await again.nextDelivery()).toEqual(delivery)
    again.acknowledge(delivery.id)
    await again.close()
    await expect.poll(async () => (await to.poll()).length).toBe(0)
  })
})
