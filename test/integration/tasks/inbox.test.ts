import { describe, expect, it } from 'vitest'
import { configSchema } from '@shared/config/index.ts'
import type { InboxItem } from '../../../src-main/node/tasks/index.ts'
import { asking, delivered, saying, states, type TaskNode, taskPair, textOf } from '../../helpers/task-node.ts'

function onlyItem({ tasks }: TaskNode): InboxItem {
  const { items } = tasks.inbox.list({ limit: 10 })
  const [item] = items
  if (item === undefined || items.length > 1) throw new Error(`${items.length} items`)
  return item
}

async function waiting(text = 'hello') {
  const pair = await taskPair()
  const { key } = await delivered(pair.requester, pair.provider, pair.between, asking(text))
  return { ...pair, key, item: onlyItem(pair.provider) }
}

describe('what is accepted and not forwarded', () => {
  it('waits for the operator, and the requester is told so', async () => {
    const { requester, provider, key, item } = await waiting()
    expect(item).toEqual({
      id: item.id,
      key,
      peer: requester.aid,
      seq: 1,
      receivedAt: provider.clock.time,
      state: 'waiting',
      trusted: false,
    })
    expect(provider.tasks.inbox.get(item.id)).toEqual(item)
    expect(requester.tasks.summary(key)).toMatchObject({
      state: 'TASK_STATE_SUBMITTED',
      reason: 'waiting_for_operator',
    })
  })

  it('has one item for each message of the peer, newest first', async () => {
    const { between, requester, provider, key } = await waiting()
    await delivered(requester, provider, between, asking('more', { taskId: key.id }))
    const { items, open } = provider.tasks.inbox.list({ limit: 1 })
    expect(open).toBe(2)
    expect(items[0]?.seq).toBeGreaterThan(1)
    const { items: rest, nextCursor } = provider.tasks.inbox.list({
      limit: 1,
      cursor: provider.tasks.inbox.list({ limit: 1 }).nextCursor,
    })
    expect(rest[0]?.seq).toBe(1)
    expect(nextCursor).toBe('')
    expect(() => provider.tasks.inbox.list({ limit: 1, cursor: 'x' })).toThrow(
      expect.objectContaining({ code: 'bad_cursor' }),
    )
  })

  it('is announced, and stays over a restart', async () => {
    const { between, requester, provider } = await taskPair()
    let changes = 0
    provider.tasks.inbox.onChange(() => (changes += 1))
    await delivered(requester, provider, between)
    expect(changes).toBeGreaterThan(0)
    await provider.restart()
    expect(onlyItem(provider).state).toBe('waiting')
  })
})

describe('the operator', () => {
  it('completes a task with a text and a file', async () => {
    const { between, requester, provider, key, item } = await waiting()
    const parts = [{ text: 'here' }, { raw: 'AAEC', filename: 'a.bin' }]
    const task = await provider.tasks.inbox.answer(item.id, { kind: 'complete', parts })
    expect(task).toMatchObject({ state: 'TASK_STATE_COMPLETED', effectStatus: 'OK' })
    await between.idle()
    expect(requester.tasks.get(key)?.artifacts).toEqual([{ artifactId: 'reply', name: 'Reply', parts }])
    expect(requester.tasks.summary(key)?.effectStatus).toBe('OK')
    expect(provider.tasks.inbox.list({ limit: 10 })).toMatchObject({ items: [], open: 0 })
    expect(provider.tasks.inbox.list({ state: 'all', limit: 10 }).items[0]?.state).toBe('answered')
  })

  it('replies, goes on working, and completes later', async () => {
    const { between, requester, provider, key, item } = await waiting()
    await provider.tasks.inbox.answer(item.id, { kind: 'reply', parts: [{ text: 'on it' }] })
    await between.idle()
    expect(requester.tasks.get(key)?.status).toMatchObject({
      state: 'TASK_STATE_WORKING',
      message: { role: 'ROLE_AGENT', parts: [{ text: 'on it' }] },
    })
    expect(onlyItem(provider).state).toBe('waiting')
    await provider.tasks.inbox.answer(item.id, { kind: 'complete', parts: [] })
    await between.idle()
    expect(requester.tasks.summary(key)?.state).toBe('TASK_STATE_COMPLETED')
  })

  it('asks, gets an answer as a new item, and completes', async () => {
    const { between, requester, provider, key, item } = await waiting()
    await provider.tasks.inbox.answer(item.id, { kind: 'ask', parts: [{ text: 'which?' }] })
    await between.idle()
    expect(provider.tasks.inbox.list({ limit: 10 }).open).toBe(0)
    expect(requester.tasks.summary(key)?.state).toBe('TASK_STATE_INPUT_REQUIRED')
    await delivered(requester, provider, between, asking('that', { taskId: key.id }))
    const answer = onlyItem(provider)
    expect(answer.id).not.toBe(item.id)
    await provider.tasks.inbox.answer(answer.id, { kind: 'complete', parts: [{ text: 'done' }] })
    await between.idle()
    expect(requester.tasks.get(key)?.history.map(textOf)).toEqual(['hello', 'which?', 'that'])
  })

  it('refuses a task that nobody has begun, and fails one that was begun', async () => {
    const begun = await waiting()
    await begun.provider.tasks.inbox.answer(begun.item.id, { kind: 'reply', parts: [{ text: 'on it' }] })
    await begun.provider.tasks.inbox.answer(begun.item.id, { kind: 'refuse', parts: [{ text: 'sorry' }] })
    await begun.between.idle()
    expect(begun.requester.tasks.summary(begun.key)?.state).toBe('TASK_STATE_FAILED')
    const fresh = await waiting()
    await fresh.provider.tasks.inbox.answer(fresh.item.id, { kind: 'refuse', parts: [] })
    await fresh.between.idle()
    expect(fresh.requester.tasks.summary(fresh.key)).toMatchObject({
      state: 'TASK_STATE_REJECTED',
      reason: 'refused_by_operator',
    })
  })

  it('cannot answer what does not exist, is over, or has nothing in it', async () => {
    const { provider, item } = await waiting()
    const { inbox } = provider.tasks
    await expect(inbox.answer(999, { kind: 'complete', parts: [] })).rejects.toMatchObject({
      code: 'inbox_item_not_found',
    })
    await expect(inbox.answer(item.id, { kind: 'ask', parts: [] })).rejects.toMatchObject({ code: 'nothing_to_say' })
    await expect(inbox.answer(item.id, { kind: 'reply', parts: [{ url: 'https://x.example' }] })).rejects.toMatchObject(
      {
        code: 'part_url_refused',
      },
    )
    await inbox.answer(item.id, { kind: 'complete', parts: [] })
    await expect(inbox.answer(item.id, { kind: 'complete', parts: [] })).rejects.toMatchObject({
      code: 'task_terminal',
    })
  })

  it('answers once when two windows answer at once', async () => {
    const { between, requester, provider, key, item } = await waiting()
    const answers = ['a', 'b'].map((text) =>
      provider.tasks.inbox.answer(item.id, { kind: 'complete', parts: [{ text }] }).catch((error: unknown) => error),
    )
    const [first, second] = await Promise.all(answers)
    expect(first).toMatchObject({ state: 'TASK_STATE_COMPLETED' })
    expect(second).toMatchObject({ code: 'task_terminal' })
    await between.idle()
    expect(requester.tasks.get(key)?.artifacts).toHaveLength(1)
  })
})

describe('admission', () => {
  async function unadmitted() {
    const pair = await taskPair()
    pair.provider.config = configSchema.parse({ inbound: { policy: 'approve' } })
    const { key } = await delivered(pair.requester, pair.provider, pair.between)
    return { ...pair, key, item: onlyItem(pair.provider) }
  }

  it("holds a stranger's task back until the operator has answered", async () => {
    const { between, requester, provider, key, item } = await unadmitted()
    expect(item.state).toBe('awaiting_admission')
    expect(requester.tasks.summary(key)).toMatchObject({ state: 'TASK_STATE_SUBMITTED', reason: 'awaiting_admission' })
    expect(provider.evidence(key)).toEqual(['task.opened'])
    expect(requester.evidence(key)).not.toContain('task.accepted')
    await provider.tasks.inbox.answer(item.id, { kind: 'reply', parts: [{ text: 'welcome' }] })
    await between.idle()
    expect(provider.evidence(key)).toEqual(['task.opened', 'task.accepted'])
    expect(requester.evidence(key)).toContain('task.accepted')
  })

  it('refused ends the task without having accepted it', async () => {
    const { between, requester, provider, key, item } = await unadmitted()
    await provider.tasks.inbox.answer(item.id, { kind: 'refuse', parts: [{ text: 'no' }] })
    await between.idle()
    expect(provider.evidence(key)).toEqual(['task.opened', 'task.refused'])
    expect(states(requester.tasks.entries(key)).at(-1)).toBe('TASK_STATE_REJECTED')
    expect(textOf(requester.tasks.get(key)?.status.message)).toBe('no')
  })

  it('goes to no forwarder, whatever the router says', async () => {
    const { between, requester, provider } = await taskPair()
    provider.config = configSchema.parse({ inbound: { policy: 'approve' } })
    let routed = 0
    provider.tasks.provider.setRouter(() => {
      routed += 1
      return 'queued'
    })
    const { key } = await delivered(requester, provider, between)
    await delivered(requester, provider, between, asking('more', { taskId: key.id }))
    expect(routed).toBe(0)
    expect(provider.tasks.provider.queued()).toEqual([])
    expect(provider.tasks.inbox.list({ limit: 10 }).items.map(({ state }) => state)).toEqual([
      'awaiting_admission',
      'awaiting_admission',
    ])
  })
})

describe('a question that is answered while the provider goes on', () => {
  it('leaves the task where the provider put it', async () => {
    const { between, requester, provider, key, item } = await waiting()
    await provider.tasks.inbox.answer(item.id, { kind: 'ask', parts: [{ text: '?' }] })
    await between.idle()
    between.hold()
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_WORKING', message: saying('never mind') })
    const answered = delivered(requester, provider, between, asking('!', { taskId: key.id }))
    between.release()
    await answered
    await between.idle()
    expect(requester.tasks.summary(key)?.state).toBe('TASK_STATE_WORKING')
    expect(provider.tasks.summary(key)?.state).toBe('TASK_STATE_WORKING')
  })
})
