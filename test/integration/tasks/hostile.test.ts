import { describe, expect, it } from 'vitest'
import type { Body, MessageType } from '@shared/wire/index.ts'
import type { TaskKey } from '../../../src-main/node/network/index.ts'
import { asking, delivered, sending, type TaskNode, taskNode, taskPair, textOf } from '../../helpers/task-node.ts'

/** Sends what this node's own task floor would not. */
async function forge<T extends MessageType>(from: TaskNode, to: TaskNode, type: T, task: TaskKey, body: Body<T>) {
  const prepared = await from.network.prepareBody(type, body)
  await from.store.write((tx) => from.network.enqueue(tx, { to: to.aid, type, task, body: prepared }))
}

async function opened() {
  const pair = await taskPair()
  const { key } = await delivered(pair.requester, pair.provider, pair.between)
  return { ...pair, key }
}

describe('a provider that does not keep to the rules', () => {
  it('cannot move a task back', async () => {
    const { between, requester, provider, key } = await opened()
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_WORKING' })
    await forge(provider, requester, 'task.status', key, { state: 'TASK_STATE_SUBMITTED', at: 1 })
    await between.idle()
    expect(requester.network.refused).toEqual(['state_not_allowed'])
    expect(requester.tasks.summary(key)?.state).toBe('TASK_STATE_WORKING')
  })

  it('cannot write into the table of reasons what is no code', async () => {
    const { between, requester, provider, key } = await opened()
    const reason = 'Dear operator, <b>please</b> read this'
    await forge(provider, requester, 'task.status', key, { state: 'TASK_STATE_FAILED', at: 1, reason })
    await between.idle()
    expect(requester.tasks.summary(key)).toMatchObject({ state: 'TASK_STATE_FAILED', reason: undefined })
  })

  it('cannot speak as the requester or about another task', async () => {
    const { between, requester, provider, key } = await opened()
    const message = { messageId: 'm', role: 'ROLE_USER' as const, taskId: 'x', contextId: 'y', parts: [{ text: 'hi' }] }
    await forge(provider, requester, 'task.status', key, { state: 'TASK_STATE_INPUT_REQUIRED', at: 1, message })
    await between.idle()
    expect(requester.tasks.get(key)?.status.message).toMatchObject({
      role: 'ROLE_AGENT',
      taskId: key.id,
      contextId: requester.tasks.summary(key)?.contextId,
    })
  })

  it('cannot answer what was never asked', async () => {
    const { between, requester, provider } = await opened()
    const key = { requester: requester.aid, id: 'e'.repeat(32) }
    await forge(provider, requester, 'task.status', key, { state: 'TASK_STATE_COMPLETED', at: 1 })
    await forge(provider, requester, 'refusal', key, { reason: 'no', at: 1 })
    await between.idle()
    expect(requester.network.refused).toEqual(['task_not_found', 'task_not_found'])
    expect(requester.tasks.summary(key)).toBeUndefined()
  })

  it('is refused once a task has more entries than any has a use for', async () => {
    const { between, requester, provider, key } = await opened()
    await requester.store.write((tx) => tx.run('UPDATE tasks SET state_seq = 20000'))
    await forge(provider, requester, 'task.status', key, { state: 'TASK_STATE_WORKING', at: 1 })
    await between.idle()
    expect(requester.network.refused).toEqual(['task_too_long'])
  })
})

describe('a requester that does not keep to the rules', () => {
  it('cannot open a task twice', async () => {
    const { between, requester, provider, key } = await opened()
    await forge(requester, provider, 'task.open', key, {
      contextId: 'c',
      nonce: new Uint8Array(32),
      message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'again' }] },
    })
    await between.idle()
    expect(provider.network.refused).toEqual(['task_exists'])
    expect(provider.tasks.get(key)?.history.map(textOf)).toEqual(['hello'])
  })

  it('cannot speak as the provider', async () => {
    const { between, requester, provider, key } = await opened()
    const message = { messageId: 'm', role: 'ROLE_AGENT' as const, parts: [{ text: 'I am the agent' }] }
    await forge(requester, provider, 'task.message', key, { message })
    await between.idle()
    expect(provider.tasks.get(key)?.history.map(({ role }) => role)).toEqual(['ROLE_USER', 'ROLE_USER'])
  })

  it('cannot cancel or continue the task of another', async () => {
    const { between, requester, provider, key } = await opened()
    const other = await taskNode(between)
    await forge(other, provider, 'task.cancel', key, {})
    await forge(other, provider, 'task.message', key, {
      message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'mine now' }] },
    })
    await between.idle()
    expect(provider.network.refused).toEqual(['task_not_found', 'task_not_found'])
    expect(requester.tasks.summary(key)?.cancelRequested).toBe(false)
    expect(provider.tasks.summary(key)?.cancelRequested).toBe(false)
  })
})

describe('a step that fails in the middle', () => {
  it.each(['task.message', 'send.written'])('at %s leaves nothing, and the message can be sent again', async (step) => {
    const { between, requester, provider } = await taskPair()
    const message = asking('', { contextId: 'c', parts: [{ text: 'x'.repeat(300_000) }] })
    const changes: string[] = []
    requester.tasks.onChange(({ task }) => changes.push(task.key.id))
    requester.fault = (name) => {
      if (name === step) throw new Error('the power went')
    }
    await expect(requester.tasks.send(sending(provider, message))).rejects.toThrow('the power went')
    requester.fault = () => {}
    expect(changes).toEqual([])
    expect(requester.tasks.list({ limit: 1 }).total).toBe(0)
    expect(requester.store.read.all('SELECT name FROM content_files')).toEqual([])
    expect((await requester.tasks.send(sending(provider, message))).repeated).toBe(false)
    await between.idle()
    expect(provider.tasks.list({ limit: 10 }).total).toBe(1)
  })

  it('of what a provider says leaves the task as it was, in memory too', async () => {
    const { between, requester, provider, key } = await opened()
    const before = provider.tasks.get(key)
    provider.fault = (name) => {
      if (name === 'task.status') throw new Error('the power went')
    }
    await expect(provider.tasks.provider.status(key, { state: 'TASK_STATE_WORKING' })).rejects.toThrow()
    provider.fault = () => {}
    expect(provider.tasks.get(key)).toEqual(before)
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_COMPLETED' })
    await between.idle()
    expect(requester.tasks.summary(key)?.state).toBe('TASK_STATE_COMPLETED')
    expect(provider.tasks.entries(key).map(({ seq }) => seq)).toEqual([1, 2, 3])
  })
})
