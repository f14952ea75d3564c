import { beforeEach, describe, expect, test, vi } from 'vitest'
import { decodeEnvelope, encodeEnvelope } from '@shared/wire/index.ts'
import type { Network, TaskKey } from '../../../src-main/node/network/index.ts'
import { artifact, joinedNodes, type NetworkNode, opening, saying, texts } from '../../helpers/network-node.ts'
import { RawPeer } from '../../helpers/raw-peer.ts'
import { temporaryHub } from '../../helpers/temporary-hub.ts'
import { crypto } from '../../helpers/wire-agent.ts'

const within = { timeout: 10_000, interval: 10 }

let hub: Awaited<ReturnType<typeof temporaryHub>>
let node: NetworkNode
let peer: RawPeer

beforeEach(async () => {
  hub = await temporaryHub({ limits: { ratePerSecond: 10_000, rateBurst: 10_000 } })
  const [joined] = await joinedNodes(hub, 1)
  if (joined === undefined) throw new Error('no node')
  node = joined
  peer = await RawPeer.join(hub)
})

const codes = (network: Network = node.network): string[] => network.rejections(100).map(({ code }) => code)
const rejected = (code: string): Promise<void> => vi.waitFor(() => expect(codes()).toContain(code), within)
const appliedTexts = (expected: string[]): Promise<void> =>
  vi.waitFor(() => expect(texts(node)).toEqual(expected), within)

async function opened(text = '0'): Promise<TaskKey> {
  const task = peer.newTask()
  await peer.send(node, 'task.open', task, opening(text), { n: 0 })
  await appliedTexts([text])
  return task
}

describe('numbers', () => {
  test('a gap is asked for, what came after it is held, and all is applied in order', async () => {
    const task = await opened()
    await peer.send(node, 'task.message', task, saying('3'), { n: 3 })
    await peer.send(node, 'task.message', task, saying('1'), { n: 1 })
    await vi.waitFor(() => {
      const missing = peer.inbox
        .filter(({ inner }) => inner.type === 'wanted')
        .map(({ inner }) => (inner.body as { missing: number[] }).missing)
      expect(missing).toContainEqual([2])
    }, within)
    expect(texts(node)).toEqual(['0', '1'])
    await peer.send(node, 'task.message', task, saying('2'), { n: 2 })
    await appliedTexts(['0', '1', '2', '3'])
    expect(node.store.read.all('SELECT * FROM net_held')).toEqual([])
    await vi.waitFor(() => expect(peer.inbox.at(-1)?.inner.ack).toBe(3), within)
  })

  test('a message that overtakes the one that opens the task waits for it', async () => {
    const task = peer.newTask()
    await peer.send(node, 'task.message', task, saying('1'), { n: 1 })
    await vi.waitFor(() => expect(node.store.read.all('SELECT * FROM net_held')).toHaveLength(1), within)
    await peer.send(node, 'task.open', task, opening('0'), { n: 0 })
    await appliedTexts(['0', '1'])
  })

  test('held messages outlive a restart', async () => {
    const task = await opened()
    const large = 'x'.repeat(400_000)
    await peer.send(node, 'task.message', task, saying('2'), { n: 2 })
    await peer.send(node, 'task.message', task, saying(large), { n: 3 })
    await vi.waitFor(() => expect(node.store.read.all('SELECT * FROM net_held')).toHaveLength(2), within)
    await node.restart()
    await peer.send(node, 'task.message', task, saying('1'), { n: 1 })
    await appliedTexts(['0', '1', '2', large])
    expect(node.store.read.all('SELECT * FROM content_files')).toEqual([])
  })

  test('what is far ahead is held within bounds, and the rest is not acknowledged', async () => {
    const task = await opened()
    for (let n = 2; n < 262; n += 1) await peer.send(node, 'task.message', task, saying(String(n)), { n })
    await vi.waitFor(() => expect(node.store.read.all('SELECT n FROM net_held')).toHaveLength(256), within)
    await node.network.stop()
    expect(node.store.read.get('SELECT max(n) AS n FROM net_held')).toEqual({ n: 257 })
  })

  test('a number that stands for two messages is misbehaviour', async () => {
    const task = await opened()
    await peer.send(node, 'task.message', task, saying('other'), { n: 0 })
    await rejected('message_out_of_place')
    await peer.send(node, 'task.message', task, saying('1'), { n: 1 })
    await appliedTexts(['0', '1'])
    await peer.send(node, 'task.message', task, saying('another 1'), { n: 1 })
    await rejected('number_reused')
    await peer.send(node, 'task.message', task, saying('3'), { n: 3 })
    await peer.send(node, 'task.message', task, saying('another 3'), { n: 3 })
    await vi.waitFor(() => expect(codes().filter((code) => code === 'number_reused')).toHaveLength(2), within)
    expect(texts(node)).toEqual(['0', '1'])
  })

  test('an acknowledgement of what was never sent means nothing more', async () => {
    const task = await node.open(peer.aid, 'to the peer')
    await vi.waitFor(() => expect(peer.inbox).toHaveLength(1), within)
    await peer.send(node, 'task.status', task, { state: 'TASK_STATE_WORKING', at: 1 }, { n: 0, ack: 1000 })
    await vi.waitFor(() => expect(node.network.unconfirmed(task).count).toBe(0), within)
    await node.send(peer.aid, 'task.message', task, saying('more'))
    await vi.waitFor(() => expect(peer.inbox.some(({ inner }) => inner.n === 1)).toBe(true), within)
    expect(node.network.unconfirmed(task).count).toBe(1)
  })

  test('what the peer says it misses is sent again at once', async () => {
    const task = await node.open(peer.aid, 'lost on the way')
    await vi.waitFor(() => expect(peer.inbox).toHaveLength(1), within)
    await peer.send(node, 'wanted', task, { missing: [0] })
    await vi.waitFor(() => expect(peer.inbox.length).toBeGreaterThanOrEqual(2), within)
    const [first, second] = peer.inbox
    expect(second?.inner.mid).toEqual(first?.inner.mid)
    expect(second?.digest).toEqual(first?.digest)
  })
})

describe('size', () => {
  test('a message that would fill the memory when it is decoded is rejected for good', async () => {
    const data: never[][] = Array.from({ length: 1_000_001 }, () => [])
    const { message, ...rest } = opening('bomb')
    const body = { ...rest, message: { ...message, parts: [{ data }] } }
    await peer.send(node, 'task.open', peer.newTask(), body, { n: 0 })
    await rejected('statement_too_large')
    await opened('goes on')
    await expect(node.network.prepareBody('task.open', body)).rejects.toMatchObject({ code: 'message_too_large' })
  })
})

describe('replay', () => {
  test('the same envelope again has no effect and is acknowledged again', async () => {
    const task = peer.newTask()
    const envelope = await peer.seal(node, 'task.open', task, opening('once'), { n: 0 })
    await peer.client.send(envelope)
    await appliedTexts(['once'])
    await vi.waitFor(() => expect(peer.inbox).toHaveLength(1), within)
    await peer.client.send(envelope)
    await vi.waitFor(() => expect(peer.inbox).toHaveLength(2), within)
    expect(texts(node)).toEqual(['once'])
    expect(codes()).toEqual([])
  })

  test('the same message sealed again has no effect', async () => {
    const task = peer.newTask()
    const body = opening('once')
    const mid = crypto.randomBytes(16)
    await peer.send(node, 'task.open', task, body, { n: 0, mid })
    await peer.send(node, 'task.open', task, body, { n: 0, mid })
    await peer.send(node, 'task.message', task, saying('after'), { n: 1 })
    await appliedTexts(['once', 'after'])
  })

  test('the same id with another body is named misbehaviour and becomes evidence', async () => {
    const task = peer.newTask()
    const mid = crypto.randomBytes(16)
    await peer.send(node, 'task.open', task, opening('one thing'), { n: 0, mid })
    await peer.send(node, 'task.open', task, opening('another'), { n: 0, mid })
    await rejected('mid_reused')
    expect(texts(node)).toEqual(['one thing'])
    expect(node.store.evidence.verify()).toMatchObject({ ok: true, records: 1 })
  })

  test('is refused for ever once the record of it is gone, also when the clock goes back', async () => {
    const envelope = await peer.seal(node, 'task.open', peer.newTask(), opening('once'), { n: 0 })
    await peer.client.send(envelope)
    await appliedTexts(['once'])
    node.clock.offset = 16 * 24 * 60 * 60_000
    await node.restart()
    await vi.waitFor(() => expect(node.store.read.all('SELECT * FROM net_seen')).toEqual([]), within)
    node.clock.offset = 0
    await node.restart()
    await vi.waitFor(() => expect(node.network.joinState.state).toBe('joined'), within)
    await peer.client.send(envelope)
    await rejected('message_expired')
    expect(texts(node)).toEqual(['once'])
  })
})

describe('a message that does not belong', () => {
  test('altered on the way, is dropped by name and the next one is taken', async () => {
    const task = peer.newTask()
    const envelope = decodeEnvelope(await peer.seal(node, 'task.open', task, opening('altered'), { n: 0 }))
    const ct = new Uint8Array(envelope.ct)
    ct[100] = (ct[100] ?? 0) ^ 1
    await peer.client.send(encodeEnvelope({ ...envelope, ct }))
    await rejected('envelope_does_not_open')
    await opened('whole')
  })

  test('about a task that is not there, is refused', async () => {
    const task = { requester: node.aid, id: 'ab'.repeat(16) }
    await peer.send(node, 'task.status', task, { state: 'TASK_STATE_COMPLETED', at: 1 }, { n: 0 })
    await rejected('unknown_task')
  })

  test('about a task with somebody else, is refused', async () => {
    const other = await RawPeer.join(hub)
    const task = await node.open(other.aid, 'for the other one')
    await peer.send(node, 'task.artifact', task, artifact('forged answer'), { n: 0 })
    await rejected('message_wrong_peer')
    await peer.send(node, 'wanted', task, { missing: [0] })
    await vi.waitFor(() => expect(codes().filter((code) => code === 'message_wrong_peer')).toHaveLength(2), within)
    expect(texts(node)).toEqual([])
  })

  test('in the direction of the other role, is refused', async () => {
    const task = await opened()
    await peer.send(node, 'task.artifact', task, artifact('I answer myself'), { n: 1 })
    await rejected('message_wrong_direction')
    const own = await node.open(peer.aid, 'a question')
    await peer.send(node, 'task.cancel', own, {}, { n: 0 })
    await vi.waitFor(() => expect(codes().filter((code) => code === 'message_wrong_direction')).toHaveLength(2), within)
  })

  test('claims a third agent as the requester, is refused', async () => {
    const third = await RawPeer.join(hub)
    await peer.send(node, 'task.open', third.newTask(), opening('in her name'), { n: 0 })
    await rejected('message_wrong_direction')
  })

  test('of a type from the future, uses up its number and stops nothing', async () => {
    const task = await opened()
    await peer.send(node, 'task.telepathy', task, { thought: 1 }, { n: 1 })
    await peer.send(node, 'task.message', task, saying('2'), { n: 2 })
    await appliedTexts(['0', '2'])
    expect(codes()).toEqual(['message_unknown_type'])
  })

  test('with a body that is not of its type, uses up its number and stops nothing', async () => {
    const task = await opened()
    await peer.send(node, 'task.message', task, { message: 'no parts' }, { n: 1 })
    await peer.send(node, 'task.message', task, saying('2'), { n: 2 })
    await appliedTexts(['0', '2'])
    expect(codes()).toEqual(['statement_malformed'])
  })

  test('names a head of this node that the node never made, is an alarm', async () => {
    const head = peer.agent.identity.head
    await peer.send(node, 'task.open', peer.newTask(), opening('I know your next key'), { n: 0, peerHead: head })
    await appliedTexts(['I know your next key'])
    expect(node.network.alarms()).toMatchObject([{ code: 'own_history_unknown_head', witness: peer.aid, head }])
    expect(node.log.join('')).toContain('did not make')
  })

  test.each([
    ['without a number', 'task.message', {}, 'message_bad_number'],
    ['numbered where there is no number', 'wanted', { n: 5 }, 'message_bad_number'],
  ])('%s, is refused', async (_name, type, changes, code) => {
    const task = await opened()
    await peer.send(node, type, task, type === 'wanted' ? { missing: [] } : saying('x'), changes)
    await rejected(code)
  })

  test('that is nothing but bytes, is dropped and acknowledged', async () => {
    const envelope = decodeEnvelope(await peer.seal(node, 'task.open', peer.newTask(), opening('x'), { n: 0 }))
    await peer.client.send(encodeEnvelope({ ...envelope, kid: 'ffffffffffffffff' }))
    await rejected('envelope_unknown_key')
    await node.restart()
    await vi.waitFor(() => expect(node.network.joinState.state).toBe('joined'), within)
    await opened('still here')
    expect(codes()).toEqual(['envelope_unknown_key'])
  })
})

test('a preview that is repeated or kept by the hub is shown once', async () => {
  const task = await node.open(peer.aid, 'a question')
  const body = { artifact: { artifactId: 'p', parts: [{ text: 'half' }] } }
  const envelope = await peer.seal(node, 'task.preview', task, body)
  await peer.client.send(envelope, { ephemeral: true })
  await appliedTexts(['half'])
  await peer.client.send(envelope, { ephemeral: true })
  const numbered = await peer.seal(node, 'task.artifact', task, artifact('whole'), { n: 0 })
  // a numbered message that the hub hands on without storing it would never be acknowledged: it is not taken
  await peer.client.send(numbered, { ephemeral: true })
  await peer.client.send(numbered)
  await appliedTexts(['half', 'whole'])
})
