import { request } from 'node:http'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { AnetError } from '@shared/errors.ts'
import { HubClient } from '../../../src-main/node/network/hub-client.ts'
import { crypto } from '../../../src-main/node/crypto.ts'
import { joinedNodes, networkNode, type NetworkNode, restartableHub, texts } from '../../helpers/network-node.ts'
import { RawPeer } from '../../helpers/raw-peer.ts'
import { scriptedServer } from '../../helpers/scripted-server.ts'
import { temporaryHub } from '../../helpers/temporary-hub.ts'

const within = { timeout: 10_000, interval: 10 }

const state = (node: NetworkNode) => node.network.joinState.state
const reaches = (node: NetworkNode, wanted: string) => vi.waitFor(() => expect(state(node)).toBe(wanted), within)

/** Takes the node's mailbox session as another node with its keys would. */
async function takeOver(node: NetworkNode, hub: { url: string; aid: string }): Promise<() => void> {
  const client = new HubClient({
    origin: hub.url,
    aid: hub.aid,
    signingKey: () => node.identity.signingKey,
    crypto,
    clock: { now: () => Date.now() },
    answerWithin: 5000,
  })
  const events = { delivery: async () => {}, ephemeral: async () => {} }
  const mailbox = await client.mailbox(events, { pingEvery: 30_000, answerWithin: 5000 })
  onTestFinished(async () => {
    mailbox.close()
    await client.close()
  })
  return () => mailbox.close()
}

async function admin(hub: { adminUrl: string; adminToken: string }, path: string): Promise<void> {
  const headers = { authorization: `Bearer ${hub.adminToken}` }
  const answer = await fetch(`${hub.adminUrl}${path}`, { method: 'POST', headers })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
}

test('a node without a hub says so and what to do', async () => {
  const node = await networkNode()
  expect(node.network.joinState).toMatchObject({ state: 'no_hub', registered: false, hub: undefined })
  expect(node.network.joinState.sentence).toContain('anet join')
})

test('a node without a hub can be asked to connect, and a node can leave its hub', async () => {
  const hub = await temporaryHub()
  const node = await networkNode()
  node.network.reconnect()
  await vi.waitFor(() => expect(state(node)).toBe('no_hub'), within)
  await node.join(hub)
  await expect(node.network.leave()).resolves.toMatchObject({ state: 'no_hub', registered: false })
  await expect(node.network.join({ url: hub.url })).resolves.toMatchObject({ state: 'joined' })
})

test('a node joins, is told of every change, and stays a member over restarts', async () => {
  const hub = await restartableHub()
  const node = await networkNode()
  const seen: string[] = []
  node.network.onJoinState(({ state: next }) => seen.push(next))
  const joined = await node.network.join({ url: hub.url })
  expect(joined).toMatchObject({ state: 'joined', registered: true, hub: { url: hub.url, aid: hub.aid } })
  expect(seen).toEqual(['joining', 'joined'])
  expect(node.hub.value).toEqual({ url: hub.url, aid: hub.aid })
  await node.stop()
  await hub.stop()
  await node.restart()
  await reaches(node, 'hub_unreachable')
  expect(node.network.joinState.registered).toBe(true)
  await hub.start()
  await reaches(node, 'joined')
})

describe('a hub that lets only some in', () => {
  test('wants an invite, refuses a wrong one, takes a right one', async () => {
    const hub = await temporaryHub({ policy: 'invite' })
    const node = await networkNode()
    const join = (invite?: string) => node.network.join({ url: hub.url, ...(invite === undefined ? {} : { invite }) })
    await expect(join()).rejects.toMatchObject({ code: 'invite_required' })
    await expect(join('not-an-invite')).rejects.toMatchObject({ code: 'invite_invalid' })
    expect(node.hub.value).toBeUndefined()
    expect(state(node)).toBe('no_hub')
    await expect(join(await hub.createInvite())).resolves.toMatchObject({ state: 'joined' })
  })

  test('admits by its operator: the node waits, asks again, and is in', async () => {
    const hub = await temporaryHub({ policy: 'admit' })
    const node = await networkNode()
    const waiting = await node.network.join({ url: hub.url })
    expect(waiting).toMatchObject({ state: 'waiting_for_admission', registered: false })
    await admin(hub, `/admin/v1/members/${node.aid}/admit`)
    await reaches(node, 'joined')
    expect(node.network.joinState.registered).toBe(true)
  })

  test('removes a node: it says so, may send nothing, and does not come back by itself', async () => {
    const hub = await temporaryHub()
    const [node] = await joinedNodes(hub, 1)
    if (node === undefined) throw new Error('no node')
    await admin(hub, `/admin/v1/members/${node.aid}/remove`)
    await reaches(node, 'removed')
    expect(node.network.joinState.registered).toBe(false)
    expect(node.network.joinState.sentence).toContain('removed')
    await node.restart()
    await reaches(node, 'removed')
    expect(node.network.joinState.registered).toBe(false)
  })
})

describe('a hub with another identity than before', () => {
  test('is refused on joining, before anything is sent', async () => {
    const hub = await temporaryHub()
    const other = await temporaryHub()
    const node = await networkNode()
    await expect(node.network.join({ url: hub.url, aid: other.aid })).rejects.toMatchObject({
      code: 'hub_wrong_identity',
      remedy: expect.stringContaining('Nothing was sent') as string,
    } satisfies Partial<AnetError>)
    expect(node.hub.value).toBeUndefined()
  })

  test('is refused on connecting, and the state says what to do', async () => {
    const hub = await temporaryHub()
    const other = await temporaryHub()
    const [node] = await joinedNodes(hub, 1)
    if (node === undefined) throw new Error('no node')
    await node.stop()
    node.hub.value = { url: other.url, aid: hub.aid }
    await node.restart()
    await reaches(node, 'refused')
    expect(node.network.joinState.sentence).toContain('join')
  })
})

test('a hub that answers garbage is named, and the node comes back when it is itself again', async () => {
  const hub = await restartableHub()
  const [node] = await joinedNodes({ ...hub.running }, 1)
  if (node === undefined) throw new Error('no node')
  const { url, asked } = await scriptedServer((_request, response) => response.end('<html>maintenance</html>'))
  await node.stop()
  node.hub.value = { url, aid: hub.aid }
  await node.restart()
  await reaches(node, 'hub_unreachable')
  expect(node.network.joinState.sentence).toContain('not the hub protocol')
  expect(new Set(asked)).toEqual(new Set(['/hub/v1/info']))
  node.hub.value = { url: hub.url, aid: hub.aid }
  node.network.reconnect()
  await reaches(node, 'joined')
})

test('joining another hub moves the node there; a failed attempt leaves it where it was', async () => {
  const first = await temporaryHub()
  const second = await temporaryHub()
  const [node] = await joinedNodes(first, 1)
  if (node === undefined) throw new Error('no node')
  const closed = await scriptedServer(() => {})
  await new Promise((resolve) => closed.server.close(resolve))
  await expect(node.network.join({ url: closed.url })).rejects.toMatchObject({
    code: 'hub_unreachable',
    remedy: expect.stringContaining('join again') as unknown,
  })
  await expect(node.network.join({ url: 'http://hub.example' })).rejects.toMatchObject({ code: 'hub_needs_https' })
  expect(node.network.joinState).toMatchObject({ state: 'joined', hub: { url: first.url } })
  const moved = await node.network.join({ url: second.url, aid: second.aid })
  expect(moved).toMatchObject({ state: 'joined', hub: { url: second.url } })
  const [friend] = await joinedNodes(second, 1)
  await friend?.open(node.aid, 'found you')
  await vi.waitFor(() => expect(texts(node)).toEqual(['found you']), within)
})

test('behind a proxy that lets no WebSocket through, the mailbox is polled', async () => {
  const hub = await temporaryHub()
  const { port } = new URL(hub.url)
  const proxy = await scriptedServer((incoming, outgoing) => {
    const { host: _host, upgrade: _upgrade, connection: _connection, ...headers } = incoming.headers
    const onward = request({ port, path: incoming.url, method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    outgoing.on('close', () => onward.destroy())
    incoming.pipe(onward)
  })
  const node = await networkNode()
  await node.join({ url: proxy.url, aid: hub.aid })
  const [friend] = await joinedNodes(hub, 1)
  const task = await friend?.open(node.aid, 'through the narrow door')
  await vi.waitFor(() => expect(texts(node)).toEqual(['through the narrow door']), within)
  await vi.waitFor(() => expect(task && friend?.network.unconfirmed(task).count).toBe(0), within)
  await takeOver(node, hub)
  await reaches(node, 'running_elsewhere')
})

describe('another node with the same identity', () => {
  test('takes the session over; this one says so and does not fight for it', async () => {
    const hub = await temporaryHub()
    const [node] = await joinedNodes(hub, 1)
    if (node === undefined) throw new Error('no node')
    const leave = await takeOver(node, hub)
    await reaches(node, 'running_elsewhere')
    expect(node.network.joinState.sentence).toContain('Another node with this identity')
    leave()
    // nothing but somebody's wish brings it back
    const peer = await RawPeer.join(hub)
    await peer.send(node, 'task.open', peer.newTask(), {}, { n: 0 })
    expect(state(node)).toBe('running_elsewhere')
    node.network.reconnect()
    await reaches(node, 'joined')
  })

  test('a restart takes the session back', async () => {
    const hub = await temporaryHub()
    const [node] = await joinedNodes(hub, 1)
    if (node === undefined) throw new Error('no node')
    await takeOver(node, hub)
    await reaches(node, 'running_elsewhere')
    await node.restart()
    await reaches(node, 'joined')
  })
})

test('a node that the hub has forgotten joins again', async () => {
  const lost = await restartableHub()
  const node = await networkNode()
  await node.network.join({ url: lost.url })
  // the hub's members are lost with its database, its identity is not
  await lost.stop()
  await lost.forget()
  await lost.start()
  await reaches(node, 'joined')
  const peer = await RawPeer.join(lost)
  await expect(peer.client.lookup(node.aid)).resolves.toMatchObject({ aid: node.aid })
})
