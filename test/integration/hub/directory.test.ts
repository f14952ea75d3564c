import { describe, expect, it } from 'vitest'
import { hubPaths, verifyHistory, verifyKeySet, verifyNetworkCard } from '@shared/wire/index.ts'
import { crypto, errorCode, HubAgent, unknownAid } from '../../helpers/hub-agent.ts'
import { joinedAgent, temporaryHub } from '../../helpers/temporary-hub.ts'

const minute = 60_000
const day = 24 * 60 * minute

describe('the directory of a hub', () => {
  it('gives records that verify, by look-up and by search', async () => {
    const hub = await temporaryHub()
    const provider = new HubAgent(hub)
    await provider.join({ card: provider.card({ name: 'Weather', skills: [{ id: 'forecast', tags: ['weather'] }] }) })
    const reader = await joinedAgent(hub)
    const { agents } = await reader.search({ q: 'weath' })
    for (const record of [await reader.lookup(provider.aid), ...agents]) {
      const history = verifyHistory(crypto, record.history, provider.aid)
      expect(verifyKeySet(crypto, record.keyset, history).aid).toBe(provider.aid)
      if (record.card === undefined) throw new Error('no card')
      expect(verifyNetworkCard(crypto, record.card, history, Date.now()).card.name).toBe('Weather')
      expect(Math.abs(Date.now() - record.lastSeen)).toBeLessThan(minute)
    }
    expect(agents).toHaveLength(1)
    expect(errorCode(await reader.post(hubPaths.lookup, { aid: unknownAid() }))).toBe('unknown_agent')
  })

  it('finds by skill and tag exactly, and by the beginnings of words', async () => {
    const hub = await temporaryHub()
    const cards = {
      weather: {
        name: 'Wetterfrosch',
        description: 'Sagt das Wetter in Köln voraus',
        skills: [{ id: 'forecast', tags: ['rain'] }],
      },
      news: {
        name: 'News 新聞記事',
        description: 'Reads the paper; also weather',
        skills: [{ id: 'news', tags: ['rain', 'paper'] }],
      },
    }
    const agents = { weather: new HubAgent(hub), news: new HubAgent(hub) }
    for (const name of ['weather', 'news'] as const) await agents[name].join({ card: agents[name].card(cards[name]) })
    const reader = await joinedAgent(hub)
    const found = async (query: object) => {
      const aids = (await reader.search(query)).agents.map((agent) => agent.aid)
      return Object.entries(agents)
        .filter(([, agent]) => aids.includes(agent.aid))
        .map(([name]) => name)
    }
    const both = ['weather', 'news']
    const cases: [object, string[]][] = [
      [{}, both],
      [{ skill: 'forecast' }, ['weather']],
      [{ skill: 'Forecast' }, []],
      [{ tag: 'rain' }, both],
      [{ tag: 'rai' }, []],
      [{ q: 'wett' }, ['weather']],
      [{ q: 'koln WETTER' }, ['weather']],
      [{ q: 'weather' }, ['news']],
      [{ q: '聞記' }, ['news']],
      [{ q: 'pap', tag: 'rain', skill: 'news' }, ['news']],
      [{ q: 'pap', tag: 'rain', skill: 'forecast' }, []],
      [{ q: '   ' }, both],
      [{ q: '"; DROP TABLE hub_members; --' }, []],
      [{ q: 'paper OR wetter' }, []],
      [{ q: '***' }, []],
    ]
    for (const [query, names] of cases) expect([query, await found(query)]).toEqual([query, names])
  })

  it('pages through everybody once', async () => {
    const hub = await temporaryHub()
    const agents = Array.from({ length: 25 }, () => new HubAgent(hub))
    for (const agent of agents) await agent.join({ card: agent.card() })
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await agents[0]?.search({ limit: 10, ...(cursor === undefined ? {} : { cursor }) })
      seen.push(...(page?.agents ?? []).map((agent) => agent.aid))
      cursor = page?.cursor
    } while (cursor !== undefined)
    expect(seen).toHaveLength(25)
    expect(seen.toSorted()).toEqual(agents.map((agent) => agent.aid).toSorted())
  })

  it('puts first who was seen last, and refuses a cursor that has become too old', async () => {
    let now = Date.now()
    const hub = await temporaryHub({ clock: { now: () => now } })
    const [early, late] = [new HubAgent(hub, () => now), new HubAgent(hub, () => now)]
    await early.join({ card: early.card() })
    now += 11 * minute
    await late.join({ card: late.card() })
    const reader = await joinedAgent(hub, () => now)
    const { agents, cursor } = await reader.search({ limit: 1 })
    expect(agents.map((agent) => agent.aid)).toEqual([late.aid])
    now += 11 * minute
    await early.lookup(late.aid)
    const first = async () => (await reader.search({ limit: 1 })).agents[0]
    await expect.poll(first).toMatchObject({ aid: early.aid, lastSeen: now })
    expect(errorCode(await reader.post(hubPaths.search, { limit: 1, cursor }))).toBe('bad_request')
  })

  it('drops a card when it expires', async () => {
    let now = Date.now()
    const hub = await temporaryHub({ clock: { now: () => now } })
    const agent = new HubAgent(hub, () => now)
    await agent.join({ card: agent.card({}, { exp: now + day }) })
    expect((await agent.search()).agents).toHaveLength(1)
    now += day
    expect((await agent.search()).agents).toHaveLength(0)
    expect((await agent.lookup(agent.aid)).card).toBeUndefined()
  })
})
