import { describe, expect, test, vi } from 'vitest'
import { AnetError } from '@shared/errors.ts'
import { artifact, joinedNodes, networkNode, restartableHub, saying, texts } from '../../helpers/network-node.ts'
import { temporaryHub } from '../../helpers/temporary-hub.ts'

const within = { timeout: 10_000, interval: 10 }

async function pair(timing = {}) {
  const hub = await temporaryHub()
  const [alice, bob] = await joinedNodes(hub, 2, { timing })
  if (alice === undefined || bob === undefined) throw new Error('no nodes')
  return { hub, alice, bob }
}

describe('two nodes and a hub', () => {
  test('a message arrives, is verified, and leaves the outbox when the peer has acknowledged it', async () => {
    const { alice, bob } = await pair()
    const task = await alice.open(bob.aid, 'first words')
    await vi.waitFor(() => expect(texts(bob)).toEqual(['first words']), within)
    expect(bob.received[0]).toMatchObject({ from: alice.aid, type: 'task.open', task })
    expect(bob.received[0]?.peer.history.head).toBe(alice.identity.head)
    await vi.waitFor(() => expect(alice.network.unconfirmed(task).count).toBe(0), within)
    expect(alice.network.outboxState()).toEqual({ waiting: 0, oldest: undefined })
  })

  test('messages of a task arrive in order, both ways, without more acknowledgements than needed', async () => {
    const { alice, bob } = await pair()
    const task = await alice.open(bob.aid, '0')
    const numbers = Array.from({ length: 40 }, (_, index) => String(index + 1))
    await Promise.all(numbers.map((text) => alice.send(bob.aid, 'task.message', task, saying(text))))
    await vi.waitFor(() => expect(texts(bob)).toHaveLength(41), within)
    expect(texts(bob)).toEqual(['0', ...numbers])
    await Promise.all(numbers.map((text) => bob.send(alice.aid, 'task.artifact', task, artifact(text))))
    await vi.waitFor(() => expect(texts(alice)).toEqual(numbers), within)
    await vi.waitFor(() => {
      expect(alice.network.unconfirmed(task).count).toBe(0)
      expect(bob.network.unconfirmed(task).count).toBe(0)
    }, within)
  })

  test('many tasks run beside each other', async () => {
    const { alice, bob } = await pair()
    const tasks = await Promise.all(Array.from({ length: 30 }, (_, index) => alice.open(bob.aid, `task ${index}`)))
    await vi.waitFor(() => expect(bob.received).toHaveLength(30), within)
    expect(new Set(bob.received.map((message) => message.task?.id))).toEqual(new Set(tasks.map(({ id }) => id)))
  })

  test('a large message travels by a sealed file and is followed by a small one in order', async () => {
    const { alice, bob } = await pair()
    const task = await alice.open(bob.aid, 'begin')
    const large = 'x'.repeat(3 * 1024 * 1024)
    await alice.send(bob.aid, 'task.message', task, saying(large))
    await alice.send(bob.aid, 'task.message', task, saying('end'))
    await vi.waitFor(() => expect(texts(bob)).toHaveLength(3), within)
    expect(texts(bob).map((text) => text.length)).toEqual([5, large.length, 3])
    await vi.waitFor(() => expect(alice.network.unconfirmed(task).count).toBe(0), within)
    expect(alice.store.read.all('SELECT * FROM content_files')).toEqual([])
  })

  test('large messages that are acknowledged while they wait for their turn do no harm', async () => {
    const { alice, bob } = await pair()
    let acknowledged: Promise<number> | undefined
    alice.fault = (name) => {
      if (name !== 'outbox.sealed' || acknowledged !== undefined) return
      // one is on its way; as if the others had been sent before and their acknowledgements came now
      const { store } = alice
      acknowledged = store.write((tx) => {
        const rows = tx.all<{ file: string }>('SELECT file FROM net_outbox WHERE file IS NOT NULL')
        for (const { file } of rows) store.content.forgetFile(tx, file)
        return tx.run('DELETE FROM net_outbox').changes
      })
    }
    const large = 'x'.repeat(5 * 1024 * 1024)
    await Promise.all(Array.from({ length: 6 }, (_, index) => alice.open(bob.aid, `${index}${large}`)))
    await vi.waitFor(() => expect(acknowledged).toBeDefined(), within)
    expect(await acknowledged).toBeGreaterThan(1)
    const after = await alice.open(bob.aid, 'after')
    await vi.waitFor(() => expect(texts(bob)).toContain('after'), within)
    await vi.waitFor(() => expect(alice.network.unconfirmed(after).count).toBe(0), within)
    await alice.network.stop()
    expect(alice.store.damage).toBeUndefined()
  })

  test('an enqueued message that is rolled back is never sent', async () => {
    const { alice, bob } = await pair()
    const task = await alice.open(bob.aid, 'kept')
    const body = alice.network.smallBody('task.message', saying('undone'))
    const write = alice.store.write((tx) => {
      alice.network.enqueue(tx, { to: bob.aid, type: 'task.message', task, body })
      throw new Error('the caller changed its mind')
    })
    await expect(write).rejects.toThrow('changed its mind')
    await alice.send(bob.aid, 'task.message', task, saying('next'))
    await vi.waitFor(() => expect(texts(bob)).toEqual(['kept', 'next']), within)
  })

  test('a preview arrives unnumbered and nothing of it is kept', async () => {
    const { alice, bob } = await pair()
    const task = await alice.open(bob.aid, 'write me something')
    await vi.waitFor(() => expect(bob.received).toHaveLength(1), within)
    bob.network.sendPreview(alice.aid, task, { artifact: { artifactId: 'p', parts: [{ text: 'half a rep' }] } })
    await vi.waitFor(() => expect(texts(alice)).toEqual(['half a rep']), within)
    expect(alice.received[0]).toMatchObject({ type: 'task.preview' })
    expect(alice.store.read.get('SELECT received FROM net_channels')).toEqual({ received: -1 })
  })

  test('of previews in a row the newest arrives, and not every one', async () => {
    const { alice, bob } = await pair()
    const task = await alice.open(bob.aid)
    await vi.waitFor(() => expect(bob.received).toHaveLength(1), within)
    for (let step = 1; step <= 50; step += 1) {
      bob.network.sendPreview(alice.aid, task, { artifact: { artifactId: 'p', parts: [{ text: String(step) }] } })
    }
    await vi.waitFor(() => expect(texts(alice).at(-1)).toBe('50'), within)
    expect(texts(alice).length).toBeLessThan(50)
  })
})

describe('a handler', () => {
  test('that refuses a message uses up its number, undoes its work, and the next one is applied', async () => {
    const { alice, bob } = await pair()
    bob.onMessage = (message) => {
      if (message.inner.n === 1) throw new AnetError('not_that', 'This cannot be taken.')
    }
    const task = await alice.open(bob.aid, '0')
    await alice.send(bob.aid, 'task.message', task, saying('1'))
    await alice.send(bob.aid, 'task.message', task, saying('2'))
    await vi.waitFor(() => expect(texts(bob)).toEqual(['0', '2']), within)
    expect(bob.network.rejections(10)).toMatchObject([{ code: 'not_that', peer: alice.aid }])
    expect(bob.store.evidence.ofTask(task)).toMatchObject([{ kind: 'message.refused', data: { code: 'not_that' } }])
    await vi.waitFor(() => expect(alice.network.unconfirmed(task).count).toBe(0), within)
  })

  test('that fails for a reason of its own gets the message again', async () => {
    const { alice, bob } = await pair()
    let failures = 2
    bob.onMessage = () => {
      failures -= 1
      if (failures >= 0) throw new Error('the disk is on fire')
    }
    const task = await alice.open(bob.aid, 'again')
    await vi.waitFor(() => expect(texts(bob)).toEqual(['again']), within)
    expect(bob.network.rejections(10)).toEqual([])
    await vi.waitFor(() => expect(alice.network.unconfirmed(task).count).toBe(0), within)
  })

  test('has large messages prepared before the transaction, and only those', async () => {
    const hub = await temporaryHub()
    const [alice] = await joinedNodes(hub, 1)
    const bob = await networkNode({ prepare: async ({ body }) => (body as { contextId: string }).contextId })
    await bob.join(hub)
    await alice?.open(bob.aid, 'small')
    await vi.waitFor(() => expect(bob.received).toHaveLength(1), within)
    await alice?.open(bob.aid, 'x'.repeat(400_000))
    await vi.waitFor(() => expect(bob.prepared).toEqual([undefined, 'context']), within)
  })

  test('whose preparation refuses a large message has it refused for good', async () => {
    const hub = await temporaryHub()
    const [alice] = await joinedNodes(hub, 1)
    const refuse = () => Promise.reject(new AnetError('too_much', 'Nobody wants that much.'))
    const bob = await networkNode({ prepare: refuse })
    await bob.join(hub)
    const task = await alice?.open(bob.aid, 'x'.repeat(400_000))
    await vi.waitFor(() => expect(bob.network.rejections(10)).toMatchObject([{ code: 'too_much' }]), within)
    await vi.waitFor(() => expect(task && alice?.network.unconfirmed(task).count).toBe(0), within)
    expect(bob.received).toEqual([])
  })
})

describe('when something is down', () => {
  test('messages wait for the hub, in order, and leave when it is back', async () => {
    const hub = await restartableHub()
    const [alice, bob] = await joinedNodes(hub.running, 2)
    if (alice === undefined || bob === undefined) throw new Error('no nodes')
    const task = await alice.open(bob.aid, '0')
    await vi.waitFor(() => expect(texts(bob)).toEqual(['0']), within)
    await hub.stop()
    await vi.waitFor(() => expect(alice.network.joinState.state).toBe('hub_unreachable'), within)
    expect(alice.network.joinState.registered).toBe(true)
    expect(alice.network.joinState.sentence).toContain('what you send waits')
    await alice.send(bob.aid, 'task.message', task, saying('1'))
    await alice.send(bob.aid, 'task.message', task, saying('2'))
    expect(alice.network.outboxState().waiting).toBe(2)
    await hub.start()
    await vi.waitFor(() => expect(texts(bob)).toEqual(['0', '1', '2']), within)
    await vi.waitFor(() => expect(alice.network.unconfirmed(task).count).toBe(0), within)
    expect(alice.network.joinState.state).toBe('joined')
  })

  test('a hub that stays away does not fill the log', async () => {
    const hub = await restartableHub()
    const [alice] = await joinedNodes(hub.running, 1)
    if (alice === undefined) throw new Error('no node')
    await hub.stop()
    await vi.waitFor(() => expect(alice.network.joinState.state).toBe('hub_unreachable'), within)
    const before = alice.log.length
    // each wish to reconnect is an attempt that fails
    for (let attempt = 0; attempt < 20; attempt += 1) {
      alice.network.reconnect()
      await vi.waitFor(() => expect(alice.network.joinState.state).toBe('hub_unreachable'), within)
    }
    expect(alice.log.length - before).toBeLessThan(50)
    expect(alice.log.filter((line) => JSON.parse(line).level >= 40)).toEqual([])
  })

  test('a hub that asks to wait is waited for, without a word in the log and without a loss', async () => {
    const hub = await temporaryHub({ limits: { ratePerSecond: 20, rateBurst: 3 } })
    const [alice, bob] = await joinedNodes(hub, 2, { timing: { resendAfter: [60_000], acknowledgeAfter: 200 } })
    if (alice === undefined || bob === undefined) throw new Error('no nodes')
    const task = await alice.open(bob.aid, '0')
    const numbers = Array.from({ length: 9 }, (_, index) => String(index + 1))
    for (const text of numbers) await alice.send(bob.aid, 'task.message', task, saying(text))
    await vi.waitFor(() => expect(texts(bob)).toEqual(['0', ...numbers]), within)
    expect(alice.network.joinState.state).toBe('joined')
    expect(alice.log.filter((line) => JSON.parse(line).level >= 40)).toEqual([])
  })

  test('what was not confirmed is sent after a restart of the sender, once in effect', async () => {
    const hub = await restartableHub()
    const [alice, bob] = await joinedNodes(hub.running, 2)
    if (alice === undefined || bob === undefined) throw new Error('no nodes')
    await hub.stop()
    const task = await alice.open(bob.aid, 'kept over the restart')
    await alice.restart()
    expect(alice.network.joinState.registered).toBe(true)
    expect(alice.network.unconfirmed(task).count).toBe(1)
    await hub.start()
    await vi.waitFor(() => expect(texts(bob)).toEqual(['kept over the restart']), within)
    await vi.waitFor(() => expect(alice.network.unconfirmed(task).count).toBe(0), within)
  })

  test('a message to a peer that is away waits at the hub, and later copies change nothing', async () => {
    const { alice, bob } = await pair()
    await bob.stop()
    const task = await alice.open(bob.aid, 'while you were out')
    const sends = () => alice.store.read.get<{ sends: number }>('SELECT sends FROM net_outbox')?.sends
    await vi.waitFor(() => expect(sends()).toBeGreaterThanOrEqual(2), within)
    await bob.restart()
    await vi.waitFor(() => expect(alice.network.unconfirmed(task).count).toBe(0), within)
    expect(texts(bob)).toEqual(['while you were out'])
  })

  test('a peer that nobody knows is waited for, by name, and reached once it joins', async () => {
    const hub = await temporaryHub()
    const [alice] = await joinedNodes(hub, 1)
    const late = await networkNode()
    if (alice === undefined) throw new Error('no node')
    await alice.open(late.aid, 'are you there')
    await vi.waitFor(() => expect(alice.log.join('')).toContain('"code":"peer_unknown"'), within)
    await late.join(hub)
    await vi.waitFor(() => expect(texts(late)).toEqual(['are you there']), within)
  })
})
