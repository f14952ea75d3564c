import { describe, expect, it } from 'vitest'
import { configSchema } from '@shared/config/index.ts'
import type { TaskKey } from '../../../src-main/node/network/index.ts'
import type { InboxItem, ProviderSide } from '../../../src-main/node/tasks/index.ts'
import { asking, delivered, saying, type TaskNode, taskPair } from '../../helpers/task-node.ts'

/** A pair whose provider queues everything, and what its forwarder was told. */
async function queueing(router: Parameters<ProviderSide['setRouter']>[0] = () => 'queued') {
  const pair = await taskPair()
  const queued: InboxItem[] = []
  const cancels: TaskKey[] = []
  pair.provider.tasks.provider.setRouter(router)
  pair.provider.tasks.provider.onQueued((item) => queued.push(item))
  pair.provider.tasks.provider.onCancel((key) => cancels.push(key))
  const { key } = await delivered(pair.requester, pair.provider, pair.between)
  const [item] = queued
  if (item === undefined) throw new Error('nothing was queued')
  return { ...pair, side: pair.provider.tasks.provider, queued, cancels, key, item }
}

function stateOf({ tasks }: TaskNode, { id }: InboxItem): InboxItem['state'] | undefined {
  return tasks.inbox.get(id)?.state
}

describe('the queue', () => {
  it('gives an item to one forwarder', async () => {
    const { provider, side, key, item, queued } = await queueing()
    expect(side.queued()).toEqual(queued)
    expect(item).toMatchObject({ key, state: 'queued', trusted: false })
    const started = await Promise.all([side.startForward(item), side.startForward(item)])
    expect(started).toEqual([true, false])
    expect(side.queued()).toEqual([])
    expect(stateOf(provider, item)).toBe('forwarding')
    expect(provider.evidence(key)).toContain('anet.backend.started')
  })

  it('takes back what cannot have reached the backend', async () => {
    const { side, item } = await queueing()
    await side.startForward(item)
    await side.releaseForward(item)
    expect(side.queued()).toEqual([item])
    expect(await side.startForward(item)).toBe(true)
  })

  it('asks the router with what it has to know', async () => {
    const asked: Parameters<Parameters<ProviderSide['setRouter']>[0]>[0][] = []
    const { between, requester, provider, side, item } = await queueing((message) => {
      asked.push(message)
      return 'queued'
    })
    await side.startForward(item)
    await side.endForward(item, { result: 'forwarded' })
    provider.config = configSchema.parse({ peers: { trust: [{ aid: requester.aid }] } })
    await delivered(requester, provider, between, asking('more', { taskId: item.key.id }))
    expect(asked).toMatchObject([
      { peer: requester.aid, trusted: false, firstOfTask: true, message: { parts: [{ text: 'hello' }] } },
      { peer: requester.aid, trusted: true, firstOfTask: false, wasForwarded: true },
    ])
  })

  it("is the operator's if the router fails", async () => {
    const { between, requester, provider } = await taskPair()
    provider.tasks.provider.setRouter(() => {
      throw new Error('a bug')
    })
    await delivered(requester, provider, between)
    expect(provider.tasks.inbox.list({ limit: 10 }).items[0]?.state).toBe('waiting')
  })

  it("lets the operator take an item over, which then is no forwarder's", async () => {
    const { between, requester, provider, side, item, key } = await queueing()
    await provider.tasks.inbox.answer(item.id, { kind: 'ask', parts: [{ text: '?' }] })
    expect(await side.startForward(item)).toBe(false)
    await between.idle()
    const routed: (boolean | undefined)[] = []
    side.setRouter(({ wasForwarded }) => {
      routed.push(wasForwarded)
      return 'waiting'
    })
    await delivered(requester, provider, between, asking('!', { taskId: key.id }))
    expect(routed).toEqual([false])
  })
})

describe('a forward that ended', () => {
  it('is on record with its answer', async () => {
    const { between, requester, provider, side, item, key } = await queueing()
    await side.startForward(item)
    await side.artifact(key, { artifact: { artifactId: 'r', parts: [{ text: 'a' }] }, append: false, lastChunk: true })
    await side.status(key, { state: 'TASK_STATE_COMPLETED', effectStatus: 'OK' })
    await side.endForward(item, { result: 'forwarded' })
    await between.idle()
    expect(stateOf(provider, item)).toBe('answered')
    expect(provider.evidence(key).filter((kind) => kind.startsWith('anet.'))).toEqual([
      'anet.backend.started',
      'anet.backend.forwarded',
    ])
    expect(requester.tasks.summary(key)?.state).toBe('TASK_STATE_COMPLETED')
  })

  it('is recorded once', async () => {
    const { provider, side, item, key } = await queueing()
    await side.startForward(item)
    await side.status(key, { state: 'TASK_STATE_COMPLETED' })
    await side.endForward(item, { result: 'forwarded' })
    await side.endForward(item, { result: 'failed', reason: 'again' })
    expect(provider.evidence(key).filter((kind) => kind === 'anet.backend.forwarded')).toHaveLength(1)
    expect(provider.evidence(key)).not.toContain('anet.backend.failed')
  })

  it("without an answer is the operator's, and the requester is told", async () => {
    const { between, requester, provider, side, item, key } = await queueing()
    await side.endForward(item, { result: 'failed', reason: 'backend_removed', handOver: true })
    await between.idle()
    expect(stateOf(provider, item)).toBe('waiting')
    expect(requester.tasks.summary(key)?.reason).toBe('waiting_for_operator')
    expect(provider.evidence(key)).toContain('anet.backend.failed')
  })

  it('cannot be answered by the operator while it runs', async () => {
    const { provider, side, item } = await queueing()
    await side.startForward(item)
    await expect(provider.tasks.inbox.answer(item.id, { kind: 'complete', parts: [] })).rejects.toMatchObject({
      code: 'task_busy',
    })
  })
})

describe('a cancel of the peer', () => {
  it("is the forwarder's to carry out", async () => {
    const { between, requester, provider, side, item, key, cancels } = await queueing()
    await side.startForward(item)
    await requester.tasks.cancel(key)
    await between.idle()
    expect(cancels).toEqual([key])
    expect(provider.tasks.summary(key)).toMatchObject({ state: 'TASK_STATE_SUBMITTED', cancelRequested: true })
    await side.status(key, { state: 'TASK_STATE_CANCELED' })
    await side.endForward(item, { result: 'failed', reason: 'canceled' })
    await between.idle()
    expect(requester.tasks.summary(key)?.state).toBe('TASK_STATE_CANCELED')
    expect(stateOf(provider, item)).toBe('answered')
  })

  it('is carried out at once where no forwarder runs', async () => {
    const { between, requester, provider } = await taskPair()
    provider.tasks.provider.setRouter(() => 'queued')
    const { key } = await delivered(requester, provider, between)
    await requester.tasks.cancel(key)
    await between.idle()
    expect(requester.tasks.summary(key)?.state).toBe('TASK_STATE_CANCELED')
    expect(provider.tasks.provider.queued()).toEqual([])
  })

  it('is announced again after a restart, as long as it was not carried out', async () => {
    const { between, requester, provider, side, item, key } = await queueing()
    await side.startForward(item)
    await side.status(key, { state: 'TASK_STATE_INPUT_REQUIRED', message: saying('?') })
    await side.endForward(item, { result: 'forwarded' })
    await between.idle()
    await requester.tasks.cancel(key)
    await between.idle()
    await provider.restart()
    const cancels: TaskKey[] = []
    provider.tasks.provider.onCancel((canceled) => cancels.push(canceled))
    await Promise.resolve()
    expect(cancels).toEqual([key])
  })

  it('that comes before the forward was started leaves nothing to start', async () => {
    const { between, requester, side, item, key } = await queueing()
    await requester.tasks.cancel(key)
    await between.idle()
    await side.status(key, { state: 'TASK_STATE_CANCELED' })
    expect(await side.startForward(item)).toBe(false)
  })
})

describe('a peer that is denied in the middle of a forward', () => {
  it('has its task rejected, and the forwarder is told to stop', async () => {
    const { between, requester, provider, side, item, key, cancels } = await queueing()
    await side.startForward(item)
    provider.config = configSchema.parse({ peers: { deny: [{ aid: requester.aid }] } })
    await delivered(requester, provider, between, asking('more', { taskId: key.id }))
    expect(cancels).toEqual([key])
    expect(requester.tasks.summary(key)?.state).toBe('TASK_STATE_REJECTED')
    expect(stateOf(provider, item)).toBe('answered')
    await side.endForward(item, { result: 'failed', reason: 'canceled' })
    expect(provider.evidence(key).filter((kind) => kind === 'anet.backend.failed')).toHaveLength(1)
  })
})

describe('after a stop in the middle of a forward', () => {
  it('the task fails as unverified, stays visible, and is never forwarded again', async () => {
    const { between, requester, provider, side, item, key } = await queueing()
    await side.startForward(item)
    await side.status(key, { state: 'TASK_STATE_WORKING' })
    await provider.restart()
    await between.idle()
    expect(stateOf(provider, item)).toBe('unverified')
    expect(provider.tasks.inbox.list({ limit: 10 }).open).toBe(1)
    for (const { tasks } of [provider, requester]) {
      expect(tasks.summary(key)).toMatchObject({
        state: 'TASK_STATE_FAILED',
        reason: 'backend_outcome_unknown',
        effectStatus: 'UNVERIFIED',
      })
    }
    expect(provider.evidence(key).slice(-2)).toEqual(['anet.backend.failed', 'task.failed'])
    expect(provider.tasks.provider.queued()).toEqual([])
    expect(await provider.tasks.provider.startForward(item)).toBe(false)
    await provider.restart()
    expect(provider.evidence(key).filter((kind) => kind === 'anet.backend.failed')).toHaveLength(1)
  })

  it('the operator can put such an item away', async () => {
    const { provider, side, item } = await queueing()
    await side.startForward(item)
    await provider.restart()
    const { inbox } = provider.tasks
    await expect(inbox.answer(item.id, { kind: 'complete', parts: [{ text: 'x' }] })).rejects.toMatchObject({
      code: 'task_terminal',
    })
    await inbox.answer(item.id, { kind: 'refuse', parts: [] })
    expect(inbox.list({ limit: 10 }).open).toBe(0)
  })

  it('an answer that was announced before the stop counts', async () => {
    const { between, requester, provider, side, item, key } = await queueing()
    await side.startForward(item)
    await side.status(key, { state: 'TASK_STATE_INPUT_REQUIRED', message: saying('which?') })
    await provider.restart()
    await between.idle()
    expect(stateOf(provider, item)).toBe('answered')
    expect(requester.tasks.summary(key)?.state).toBe('TASK_STATE_INPUT_REQUIRED')
    expect(provider.evidence(key)).toContain('anet.backend.forwarded')
  })

  it('what waits in the queue is forwarded, but not before the rest is settled', async () => {
    const { provider, item } = await queueing()
    let started: Promise<boolean> | undefined
    await provider.restart()
    started = provider.tasks.provider.startForward(item)
    expect(await started).toBe(true)
  })
})
