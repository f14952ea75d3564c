import { describe, expect, it } from 'vitest'
import { asking, delivered, saying, sending, taskNode, taskPair, textOf } from '../../helpers/task-node.ts'

const minute = 60_000
const hour = 60 * minute

describe('a message with a contextId', () => {
  it('is known by the pair of contextId and messageId alone', async () => {
    const { between, requester, provider } = await taskPair()
    const first = await requester.tasks.send(sending(provider, asking('one', { messageId: 'm', contextId: 'c' })))
    const second = await requester.tasks.send(
      sending(provider, asking('two', { messageId: 'm', contextId: 'c', metadata: { other: true } })),
    )
    await between.idle()
    expect(second).toMatchObject({ repeated: true, task: { key: first.task.key } })
    expect(provider.tasks.list({ limit: 10 }).total).toBe(1)
    expect(requester.tasks.get(first.task.key)?.history.map(textOf)).toEqual(['one'])
  })

  it('is another message with another messageId, context or agent', async () => {
    const { between, requester, provider } = await taskPair()
    const other = await taskNode(between)
    const message = asking('one', { messageId: 'm', contextId: 'c' })
    await requester.tasks.send(sending(provider, message))
    await requester.tasks.send(sending(provider, { ...message, messageId: 'n' }))
    await requester.tasks.send(sending(provider, { ...message, contextId: 'd' }))
    await requester.tasks.send(sending(other, message))
    expect(requester.tasks.list({ limit: 10 }).total).toBe(4)
  })

  it('opens one task when copies arrive at the same instant', async () => {
    const { between, requester, provider } = await taskPair()
    const message = asking('one', { messageId: 'm', contextId: 'c', parts: [{ text: 'x'.repeat(300_000) }] })
    const results = await Promise.all(
      Array.from({ length: 20 }, () => requester.tasks.send(sending(provider, message))),
    )
    await between.idle()
    expect(new Set(results.map(({ task }) => task.key.id)).size).toBe(1)
    expect(results.filter(({ repeated }) => !repeated)).toHaveLength(1)
    expect(requester.store.read.all('SELECT name FROM content_files')).toHaveLength(1)
    expect(provider.tasks.list({ limit: 10 }).total).toBe(1)
  })

  it('is known after a restart', async () => {
    const { requester, provider } = await taskPair()
    const message = asking('one', { messageId: 'm', contextId: 'c' })
    const { task } = await requester.tasks.send(sending(provider, message))
    await requester.restart()
    const again = await requester.tasks.send(sending(provider, message))
    expect(again).toMatchObject({ repeated: true, task: { key: task.key } })
  })

  it('is known while the task is open, and 24 hours after its end', async () => {
    const { between, requester, provider } = await taskPair()
    const message = asking('one', { messageId: 'm', contextId: 'c' })
    const { key } = await delivered(requester, provider, between, message)
    requester.clock.time += 100 * hour
    expect((await requester.tasks.send(sending(provider, message))).repeated).toBe(true)
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_COMPLETED' })
    await between.idle()
    requester.clock.time += 24 * hour - 1
    expect((await requester.tasks.send(sending(provider, message))).repeated).toBe(true)
    requester.clock.time += 1
    expect(await requester.tasks.send(sending(provider, message))).toMatchObject({ repeated: false })
  })

  it('is known although the first copy had no contextId yet, once the client has learned it', async () => {
    const { requester, provider } = await taskPair()
    const message = asking('one', { messageId: 'm' })
    const { task } = await requester.tasks.send(sending(provider, message))
    const again = await requester.tasks.send(sending(provider, { ...message, contextId: task.contextId }))
    expect(again).toMatchObject({ repeated: true, task: { key: task.key } })
  })
})

describe('a message without a contextId', () => {
  it('is known if the whole of it is equal, whatever the order of its keys', async () => {
    const { requester, provider } = await taskPair()
    const message = asking('one', { messageId: 'm', metadata: { a: 1, b: [2] } })
    const { task } = await requester.tasks.send(sending(provider, message))
    const turned = { metadata: { b: [2], a: 1 }, parts: message.parts, role: message.role, messageId: 'm' }
    expect(await requester.tasks.send(sending(provider, turned))).toMatchObject({
      repeated: true,
      task: { key: task.key },
    })
  })

  it('opens a new task if anything of it differs', async () => {
    const { requester, provider } = await taskPair()
    const message = asking('one', { messageId: 'm' })
    await requester.tasks.send(sending(provider, message))
    const others = [
      { ...message, parts: [{ text: 'two' }] },
      { ...message, metadata: { 'anet.skill': 's' } },
      { ...message, parts: [...message.parts, { raw: 'AAEC' }] },
      { ...message, parts: [{ text: 'one', metadata: {} }] },
    ]
    for (const other of others) {
      expect(await requester.tasks.send(sending(provider, other))).toMatchObject({ repeated: false })
    }
  })

  it('is compared by its large parts too', async () => {
    const { requester, provider } = await taskPair()
    const message = asking('', { messageId: 'm', parts: [{ text: 'x'.repeat(200_000) }] })
    await requester.tasks.send(sending(provider, message))
    expect((await requester.tasks.send(sending(provider, message))).repeated).toBe(true)
    const other = { ...message, parts: [{ text: `${'x'.repeat(199_999)}y` }] }
    expect((await requester.tasks.send(sending(provider, other))).repeated).toBe(false)
  })

  it('is known while the task is open and 10 minutes after its end, then it opens a new one', async () => {
    const { between, requester, provider } = await taskPair()
    const message = asking('one', { messageId: 'm' })
    const { key } = await delivered(requester, provider, between, message)
    requester.clock.time += 100 * hour
    expect((await requester.tasks.send(sending(provider, message))).repeated).toBe(true)
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_COMPLETED' })
    await between.idle()
    requester.clock.time += 10 * minute - 1
    expect((await requester.tasks.send(sending(provider, message))).repeated).toBe(true)
    requester.clock.time += 1
    const later = await requester.tasks.send(sending(provider, message))
    expect(later.repeated).toBe(false)
    expect(await requester.tasks.send(sending(provider, message))).toMatchObject({
      repeated: true,
      task: { key: later.task.key },
    })
  })

  it('that answers a question is answered once', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between)
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_INPUT_REQUIRED', message: saying('?') })
    await between.idle()
    const answer = asking('yes', { taskId: key.id, messageId: 'a' })
    const results = await Promise.all([1, 2, 3].map(() => requester.tasks.send(sending(provider, answer))))
    await between.idle()
    expect(results.map(({ repeated }) => repeated)).toEqual([false, true, true])
    expect(provider.tasks.get(key)?.history.map(textOf)).toEqual(['hello', '?', 'yes'])
  })
})

describe('the look-up', () => {
  it('comes before every other check', async () => {
    const { between, requester, provider } = await taskPair()
    const message = asking('one', { messageId: 'm', contextId: 'c' })
    const { key } = await delivered(requester, provider, between, message)
    const refusable = { ...message, parts: [{ url: 'https://example.org/' }], taskId: 'somebody-elses' }
    requester.network.setState('no_hub')
    expect(await requester.tasks.send(sending(provider, refusable))).toMatchObject({ repeated: true, task: { key } })
    requester.network.setState('joined')
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_COMPLETED' })
    await between.idle()
    const terminal = await requester.tasks.send(sending(provider, { ...message, taskId: key.id }))
    expect(terminal).toMatchObject({ repeated: true, task: { state: 'TASK_STATE_COMPLETED' } })
  })

  it('finds nothing of a message that was refused', async () => {
    const { requester, provider } = await taskPair()
    const message = asking('one', { messageId: 'm', contextId: 'c' })
    requester.network.setState('no_hub')
    await expect(requester.tasks.send(sending(provider, message))).rejects.toMatchObject({ code: 'not_registered' })
    requester.network.setState('joined')
    expect((await requester.tasks.send(sending(provider, message))).repeated).toBe(false)
  })

  it('forgets messages of tasks that ended more than a day ago', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between)
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_COMPLETED' })
    await between.idle()
    requester.clock.time += 25 * hour
    await requester.tasks.send(sending(provider))
    expect(requester.store.read.all('SELECT id FROM task_messages')).toHaveLength(1)
  })
})
