import { describe, expect, it } from 'vitest'
import { newAid } from '../../helpers/new-aid.ts'
import { asking, delivered, saying, sending, states, taskNode, taskPair, textOf } from '../../helpers/task-node.ts'

describe('a message', () => {
  it('opens a task with ids of its own', async () => {
    const { requester, provider } = await taskPair()
    const [a, b] = await Promise.all([1, 2].map(() => requester.tasks.send(sending(provider))))
    expect(a?.task.key).toEqual({ requester: requester.aid, id: expect.stringMatching(/^[0-9a-f]{32}$/) })
    expect(a?.task.key.id).not.toBe(b?.task.key.id)
    expect(a?.task.contextId).not.toBe(b?.task.contextId)
    expect(a?.task).toMatchObject({ state: 'TASK_STATE_SUBMITTED', stateSeq: 1, reason: undefined })
  })

  it('keeps the contextId that the client chose', async () => {
    const { between, requester, provider } = await taskPair()
    const task = await delivered(requester, provider, between, asking('x', { contextId: 'my own' }))
    expect(task.contextId).toBe('my own')
    expect(provider.tasks.summary(task.key)?.contextId).toBe('my own')
  })

  it('names its sender in the timeline', async () => {
    const { requester, provider } = await taskPair()
    const { task } = await requester.tasks.send({ agent: provider.aid, message: asking(), client: 'window' })
    expect(requester.tasks.entries(task.key)[0]).toMatchObject({ kind: 'message', client: 'window' })
  })

  it('that names a taskId continues that task', async () => {
    const { between, requester, provider } = await taskPair()
    const { key, contextId } = await delivered(requester, provider, between)
    await delivered(requester, provider, between, asking('more', { taskId: key.id }))
    await delivered(requester, provider, between, asking('and more', { taskId: key.id, contextId }))
    expect(provider.tasks.get(key)?.history.map(textOf)).toEqual(['hello', 'more', 'and more'])
  })

  it('with a contextId alone continues the one task of it that asks something', async () => {
    const { between, requester, provider } = await taskPair()
    const first = await delivered(requester, provider, between, asking('a', { contextId: 'c' }))
    await provider.tasks.provider.status(first.key, { state: 'TASK_STATE_INPUT_REQUIRED', message: saying('?') })
    await between.idle()
    const answer = await requester.tasks.send(sending(provider, asking('yes', { contextId: 'c' })))
    expect(answer.task.key).toEqual(first.key)
    // now nothing asks any more
    const second = await requester.tasks.send(sending(provider, asking('b', { contextId: 'c' })))
    expect(second.task.key).not.toEqual(first.key)
    await between.idle()
  })

  it('with a contextId alone opens a new task if two ask, or if the one asks for a payment', async () => {
    const { between, requester, provider } = await taskPair()
    const ask = { state: 'TASK_STATE_INPUT_REQUIRED' as const, message: saying('?') }
    const paid = await delivered(requester, provider, between, asking('a', { contextId: 'paid' }))
    await provider.tasks.provider.status(paid.key, { ...ask, effectStatus: 'PAYMENT_REQUIRED' })
    for (const text of ['a', 'b']) {
      const { key } = await delivered(requester, provider, between, asking(text, { contextId: 'both' }))
      await provider.tasks.provider.status(key, ask)
      // the second one would otherwise answer the first
      if (text === 'a') await between.idle()
      if (text === 'a') {
        const { task } = await requester.tasks.send(sending(provider, asking('answer', { contextId: 'both' })))
        expect(task.key).toEqual(key)
        await between.idle()
        await provider.tasks.provider.status(key, { state: 'TASK_STATE_WORKING' })
        await between.idle()
        expect(requester.tasks.summary(key)?.state).toBe('TASK_STATE_WORKING')
      }
    }
    const first = requester.tasks
      .list({ contextId: 'both', limit: 10 })
      .tasks.find(({ state }) => state === 'TASK_STATE_WORKING')
    await provider.tasks.provider.status(first?.key ?? paid.key, ask)
    await between.idle()
    for (const contextId of ['paid', 'both']) {
      const before = requester.tasks.list({ contextId, limit: 10 }).total
      await requester.tasks.send(sending(provider, asking('next', { contextId })))
      expect(requester.tasks.list({ contextId, limit: 10 }).total).toBe(before + 1)
    }
  })

  it('takes empty ids for absent ones', async () => {
    const { requester, provider } = await taskPair()
    const { task } = await requester.tasks.send(sending(provider, asking('x', { taskId: '', contextId: '' })))
    expect(task.contextId).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('keeps its place behind a larger one of the same task', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between)
    const large = asking('', { taskId: key.id, parts: [{ text: 'l'.repeat(2_000_000) }], messageId: 'large' })
    const small = asking('s', { taskId: key.id, messageId: 'small' })
    await Promise.all([large, small].map((message) => requester.tasks.send(sending(provider, message))))
    await between.idle()
    expect(
      provider.tasks
        .get(key)
        ?.history.map(({ messageId }) => messageId)
        .slice(1),
    ).toEqual(['large', 'small'])
  })
})

describe('refusals', () => {
  it('of a task that does not exist and of one with another agent look the same', async () => {
    const { between, requester, provider } = await taskPair()
    const other = await taskNode(between)
    const { key } = await delivered(requester, provider, between)
    const send = (agent: typeof provider, taskId: string) =>
      requester.tasks.send(sending(agent, asking('x', { taskId }))).catch((error: unknown) => error)
    const wrongAgent = await send(other, key.id)
    const unknown = await send(other, 'f'.repeat(32))
    expect(wrongAgent).toMatchObject({ code: 'task_not_found', message: `There is no task ${key.id}.` })
    expect(unknown).toMatchObject({ code: 'task_not_found', message: `There is no task ${'f'.repeat(32)}.` })
    // what a peer opened here is no task of this node's clients
    const { task } = await provider.tasks.send(sending(requester))
    await between.idle()
    expect(await send(provider, task.key.id)).toMatchObject({ code: 'task_not_found' })
  })

  it('name the context and the end of a task', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between)
    const send = (more: object) => requester.tasks.send(sending(provider, asking('x', { taskId: key.id, ...more })))
    await expect(send({ contextId: 'another' })).rejects.toMatchObject({ code: 'context_mismatch' })
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_REJECTED' })
    await between.idle()
    await expect(send({})).rejects.toMatchObject({
      code: 'task_terminal',
      message: `Task ${key.id} has ended (rejected): it takes no more messages.`,
    })
  })

  it('of unregistered nodes say what to do, and create no task', async () => {
    const { requester, provider } = await taskPair()
    requester.network.setState('no_hub')
    await expect(requester.tasks.send(sending(provider))).rejects.toMatchObject({
      code: 'not_registered',
      message: 'This node has not joined a hub: use "anet join URL" or the Settings.',
    })
    expect(requester.tasks.list({ limit: 10 })).toEqual({ tasks: [], nextCursor: '', total: 0 })
  })

  it.each(['itself', 'a stranger', 'no AID'])('of %s as the agent are unknown_agent', async (who) => {
    const { requester } = await taskPair()
    const agent = { itself: requester.aid, 'a stranger': newAid(), 'no AID': 'nobody' }[who] ?? ''
    await expect(requester.tasks.send({ agent, message: asking() })).rejects.toMatchObject({ code: 'unknown_agent' })
  })

  it('of parts leave nothing behind', async () => {
    const { requester, provider } = await taskPair()
    const parts = [{ text: 'x'.repeat(300_000) }, { url: 'file:///etc/passwd' }]
    await expect(requester.tasks.send(sending(provider, asking('', { parts })))).rejects.toMatchObject({
      code: 'part_url_refused',
    })
    expect(requester.tasks.list({ limit: 10 }).total).toBe(0)
    expect(requester.store.read.all('SELECT name FROM content_files')).toEqual([])
  })

  it('of metadata that fits nowhere say so', async () => {
    const { requester, provider } = await taskPair()
    const metadata = { much: 'x'.repeat(400_000) }
    await expect(requester.tasks.send(sending(provider, asking('x', { metadata })))).rejects.toMatchObject({
      code: 'message_too_large',
    })
  })

  it('of more messages than a peer holds back are task_busy', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between)
    between.hold()
    for (let sent = 0; sent < 200; sent += 1) {
      await requester.tasks.send(sending(provider, asking('x', { taskId: key.id })))
    }
    await expect(requester.tasks.send(sending(provider, asking('x', { taskId: key.id })))).rejects.toMatchObject({
      code: 'task_busy',
    })
    between.release()
    await between.idle()
    await requester.tasks.send(sending(provider, asking('x', { taskId: key.id })))
  })
})

describe('while the hub cannot be reached', () => {
  it('the task is created, says why it waits, and stops saying so when it has left', async () => {
    const { between, requester, provider } = await taskPair()
    requester.network.setState('hub_unreachable')
    const { task } = await requester.tasks.send(sending(provider))
    expect(task).toMatchObject({ state: 'TASK_STATE_SUBMITTED', reason: 'hub_unreachable' })
    requester.network.setState('joined')
    await between.idle()
    expect(requester.tasks.summary(task.key)?.reason).not.toBe('hub_unreachable')
    expect(states(requester.tasks.entries(task.key))[0]).toBe('TASK_STATE_SUBMITTED')
    expect(provider.tasks.summary(task.key)?.title).toBe('hello')
  })

  it('a peer that confirms nothing for 15 minutes is shown', async () => {
    const { requester, provider } = await taskPair()
    requester.network.setState('hub_unreachable')
    const { task } = await requester.tasks.send(sending(provider))
    requester.network.oldest.set(task.key.id, requester.clock.time)
    requester.clock.time += 15 * 60_000
    expect(requester.tasks.summary(task.key)?.unconfirmed).toBe(false)
    requester.clock.time += 1
    expect(requester.tasks.summary(task.key)?.unconfirmed).toBe(true)
    expect(requester.tasks.list({ limit: 1 }).tasks[0]?.unconfirmed).toBe(true)
  })
})

describe('finding a task by an id that a person gives', () => {
  it('prefers the own one and takes a unique one of a peer', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between)
    expect(requester.tasks.find(key.id)?.direction).toBe('out')
    expect(provider.tasks.find(key.id)?.direction).toBe('in')
    expect(provider.tasks.find('0'.repeat(32))).toBeUndefined()
  })
})
