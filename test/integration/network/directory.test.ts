import { describe, expect, test, vi } from 'vitest'
import { decodeSigned, encodeSigned, limits, readNetworkCard } from '@shared/wire/index.ts'
import { joinedNodes, networkNode, type NetworkNode, restartableHub, texts } from '../../helpers/network-node.ts'
import { RawPeer } from '../../helpers/raw-peer.ts'
import { temporaryHub } from '../../helpers/temporary-hub.ts'

const within = { timeout: 10_000, interval: 10 }

function cardOf(name: string, skills: { id: string; tags: string[] }[] = []): Uint8Array {
  return new TextEncoder().encode(
    JSON.stringify({
      name,
      description: `${name} does what its name says`,
      version: '1.0.0',
      supportedInterfaces: [{ url: 'anet:', protocolBinding: 'ANET', protocolVersion: '1.0' }],
      capabilities: {},
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: skills.map(({ id, tags }) => ({ id, name: id, description: `skill ${id}`, tags })),
    }),
  )
}

async function withCard(hub: { url: string; aid: string }, card: Uint8Array): Promise<NetworkNode> {
  const node = await networkNode()
  node.card = card
  await node.join(hub)
  return node
}

const aids = (node: NetworkNode, query: Parameters<NetworkNode['network']['directory']['list']>[0] = {}): string[] =>
  node.network.directory.list(query).agents.map(({ aid }) => aid)

describe('the directory', () => {
  test('holds the verified agents of the hub, answers at once, and never the node itself', async () => {
    const hub = await temporaryHub()
    const echo = await withCard(hub, cardOf('Echo', [{ id: 'echo', tags: ['text', 'demo'] }]))
    const painter = await withCard(hub, cardOf('Painter', [{ id: 'paint', tags: ['image', 'demo'] }]))
    const reader = await withCard(hub, cardOf('Reader'))
    await reader.network.directory.refresh()
    expect(new Set(aids(reader))).toEqual(new Set([echo.aid, painter.aid]))
    expect(aids(reader, { skill: 'echo' })).toEqual([echo.aid])
    expect(aids(reader, { tag: 'image' })).toEqual([painter.aid])
    expect(new Set(aids(reader, { tag: 'demo' }))).toEqual(new Set([echo.aid, painter.aid]))
    expect(aids(reader, { skill: 'echo', tag: 'image' })).toEqual([])
    expect(aids(reader, { skill: 'echo', tag: 'text' })).toEqual([echo.aid])
    expect(aids(reader, { q: 'pain' })).toEqual([painter.aid])
    expect(aids(reader, { q: 'ECHO says' })).toEqual([echo.aid])
    expect(aids(reader, { q: 'echo painter' })).toEqual([])
    expect(aids(reader, { q: '"*' })).toEqual([])
    expect(reader.network.directory.get(echo.aid)?.peer?.card?.card.name).toBe('Echo')
    expect(reader.network.directory.get(reader.aid)).toBeUndefined()
    expect(reader.network.directory.count()).toBe(2)
  })

  test('asks the hub for one agent, verifies it, and names what is unknown', async () => {
    const hub = await temporaryHub()
    const [reader, other] = await joinedNodes(hub, 2)
    const stranger = await networkNode()
    if (reader === undefined || other === undefined) throw new Error('no nodes')
    const found = await reader.network.directory.lookup(other.aid)
    expect(found.peer?.history.head).toBe(other.identity.head)
    await expect(reader.network.directory.lookup(stranger.aid)).rejects.toMatchObject({ code: 'unknown_agent' })
    await expect(reader.network.directory.lookup(reader.aid)).rejects.toMatchObject({ code: 'unknown_agent' })
  })

  test('holds who wrote to this node, also when the hub does not list it', async () => {
    const hub = await temporaryHub()
    const [alice, bob] = await joinedNodes(hub, 2)
    if (alice === undefined || bob === undefined) throw new Error('no nodes')
    let changes = 0
    bob.network.directory.onChange(() => (changes += 1))
    await alice.open(bob.aid, 'hello')
    await vi.waitFor(() => expect(texts(bob)).toEqual(['hello']), within)
    expect(aids(bob)).toEqual([alice.aid])
    expect(changes).toBeGreaterThan(0)
    await bob.network.directory.refresh()
    expect(aids(bob)).toEqual([alice.aid])
  })

  test('is there without the hub', async () => {
    const hub = await restartableHub()
    const echo = await withCard(hub, cardOf('Echo'))
    const [reader] = await joinedNodes(hub.running, 1)
    await reader?.network.directory.refresh()
    await hub.stop()
    await reader?.restart()
    expect(reader && aids(reader)).toEqual([echo.aid])
    await expect(reader?.network.directory.refresh()).rejects.toMatchObject({ code: 'hub_unreachable' })
  })

  test.each(['nonsense', 'AAAA', '!'])('refuses the cursor %s', async (cursor) => {
    const hub = await temporaryHub()
    const [reader] = await joinedNodes(hub, 1)
    expect(() => reader?.network.directory.list({ cursor })).toThrow(
      expect.objectContaining({ code: 'bad_cursor' }) as Error,
    )
  })

  test('refuses the cursor of another question', async () => {
    const hub = await temporaryHub()
    const [reader, one, two] = await joinedNodes(hub, 3)
    if (reader === undefined || one === undefined || two === undefined) throw new Error('no nodes')
    await reader.network.directory.lookup(one.aid)
    await reader.network.directory.lookup(two.aid)
    const { nextCursor } = reader.network.directory.list({ limit: 1 })
    expect(() => reader.network.directory.list({ limit: 1, tag: 'x', cursor: nextCursor })).toThrow(
      expect.objectContaining({ code: 'bad_cursor' }) as Error,
    )
  })
})

describe('the own card', () => {
  const published = async (peer: RawPeer, aid: string) => (await peer.client.lookup(aid)).card
  const nameOf = (card: Awaited<ReturnType<typeof published>>) =>
    card === undefined
      ? undefined
      : readNetworkCard(decodeSigned(encodeSigned(card), 'card', limits.card.bytes * 2)).card.name

  test('is published on joining, and again when it changes', async () => {
    const hub = await temporaryHub()
    const node = await withCard(hub, cardOf('Before'))
    const peer = await RawPeer.join(hub)
    expect(nameOf(await published(peer, node.aid))).toBe('Before')
    node.card = cardOf('After')
    node.network.cardChanged()
    await vi.waitFor(async () => expect(nameOf(await published(peer, node.aid))).toBe('After'), within)
  })

  test('is withdrawn, and the withdrawal reaches a hub that was away', async () => {
    const hub = await restartableHub()
    const node = await withCard(hub, cardOf('Shy'))
    await hub.stop()
    node.card = undefined
    await node.restart()
    await hub.start()
    await vi.waitFor(() => expect(node.network.joinState.state).toBe('joined'), within)
    const peer = await RawPeer.join(hub)
    await vi.waitFor(async () => {
      expect(await published(peer, node.aid)).toBeUndefined()
    }, within)
    node.card = cardOf('Back again')
    node.network.cardChanged()
    await vi.waitFor(async () => expect(nameOf(await published(peer, node.aid))).toBe('Back again'), within)
  })

  test('is not published again when nothing changed', async () => {
    const hub = await temporaryHub()
    const node = await withCard(hub, cardOf('Same'))
    const peer = await RawPeer.join(hub)
    const first = await published(peer, node.aid)
    await node.restart()
    await vi.waitFor(() => expect(node.network.joinState.state).toBe('joined'), within)
    expect(await published(peer, node.aid)).toEqual(first)
  })
})
