import { describe, expect, it } from 'vitest'
import { configSchema } from '@shared/config/index.ts'
import { asking, delivered, saying, sending, states, taskPair, textOf } from '../../helpers/task-node.ts'

describe('a task from the request to its end', () => {
  it('is accepted, worked on, answered and completed, and both nodes hold the same', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between, asking('what time is it?', { messageId: 'm-1' }))
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_WORKING', message: saying('looking') })
    const artifact = { artifactId: 'reply', parts: [{ text: 'noon' }] }
    await provider.tasks.provider.artifact(key, { artifact, append: false, lastChunk: true })
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_COMPLETED', effectStatus: 'OK' })
    await between.idle()
    const asked = requester.tasks.get(key)
    const served = provider.tasks.get(key)
    expect(asked).toMatchObject({
      direction: 'out',
      peer: provider.aid,
      state: 'TASK_STATE_COMPLETED',
      effectStatus: 'OK',
      receipt: 'unverified',
      title: 'what time is it?',
    })
    expect(served).toMatchObject({ direction: 'in', peer: requester.aid, state: 'TASK_STATE_COMPLETED' })
    expect(asked?.artifacts).toEqual([artifact])
    expect(asked?.history.map(textOf)).toEqual(['what time is it?', 'looking'])
    expect(served?.history.map(textOf)).toEqual(asked?.history.map(textOf))
    expect(asked?.history[0]).toMatchObject({ messageId: 'm-1', taskId: key.id, contextId: asked?.contextId })
    expect(served?.contextId).toBe(asked?.contextId)
    expect(requester.evidence(key)).toEqual(['task.opened', 'task.delivered', 'task.accepted', 'task.completed'])
    expect(provider.evidence(key)).toEqual(['task.opened', 'task.accepted', 'task.completed'])
  })

  it('counts every entry in state_seq, without gap', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between)
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_WORKING' })
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_FAILED', reason: 'backend_failed' })
    await between.idle()
    const entries = requester.tasks.entries(key)
    expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1))
    expect(requester.tasks.summary(key)?.stateSeq).toBe(entries.length)
    expect(requester.tasks.entries(key, 2)).toEqual(entries.slice(2))
  })

  it('handles each message once although it is delivered twice', async () => {
    const { between, requester, provider } = await taskPair()
    between.twice = true
    const { key } = await delivered(requester, provider, between)
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_COMPLETED' })
    await between.idle()
    expect(provider.tasks.inbox.list({ state: 'all', limit: 10 }).items).toHaveLength(1)
    expect(states(requester.tasks.entries(key))).toEqual(['TASK_STATE_SUBMITTED', 'TASK_STATE_COMPLETED'])
  })

  it('is read the same after a restart of either node', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between)
    await provider.tasks.provider.artifact(key, {
      artifact: { artifactId: 'a', parts: [{ raw: 'AAEC', filename: 'x.bin', mediaType: 'application/octet-stream' }] },
      append: false,
      lastChunk: true,
    })
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_INPUT_REQUIRED', message: saying('which?') })
    await between.idle()
    const before = [requester.tasks.get(key), provider.tasks.get(key)]
    await requester.restart()
    await provider.restart()
    expect([requester.tasks.get(key), provider.tasks.get(key)]).toEqual(before)
  })
})

describe('questions', () => {
  it('are answered by a message, and both sides hold the task as handed over again', async () => {
    const { between, requester, provider } = await taskPair()
    const { key, contextId } = await delivered(requester, provider, between)
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_INPUT_REQUIRED', message: saying('which one?') })
    await between.idle()
    expect(textOf(requester.tasks.get(key)?.status.message)).toBe('which one?')
    await delivered(requester, provider, between, asking('the first', { taskId: key.id, contextId }))
    for (const { tasks } of [requester, provider]) {
      expect(tasks.summary(key)?.state).toBe('TASK_STATE_SUBMITTED')
      expect(tasks.get(key)?.history.map(textOf)).toEqual(['hello', 'which one?', 'the first'])
      expect(tasks.get(key)?.status.message).toBeUndefined()
    }
  })

  it('leave a task that is worked on as it is when a message is added', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between)
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_WORKING' })
    await between.idle()
    await delivered(requester, provider, between, asking('and this', { taskId: key.id }))
    expect(requester.tasks.summary(key)?.state).toBe('TASK_STATE_WORKING')
    expect(provider.tasks.summary(key)?.state).toBe('TASK_STATE_WORKING')
  })
})

describe('a terminal state', () => {
  it('is final: what the provider would still say is refused to it', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between)
    const { provider: side } = provider.tasks
    await side.status(key, { state: 'TASK_STATE_COMPLETED' })
    const artifact = { artifactId: 'a', parts: [{ text: 'too late' }] }
    await expect(side.status(key, { state: 'TASK_STATE_WORKING' })).rejects.toMatchObject({ code: 'task_terminal' })
    await expect(side.artifact(key, { artifact, append: false, lastChunk: true })).rejects.toMatchObject({
      code: 'task_terminal',
    })
    await between.idle()
    expect(requester.tasks.get(key)?.artifacts).toEqual([])
  })

  it('does not let work begin again', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between)
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_WORKING' })
    await expect(provider.tasks.provider.status(key, { state: 'TASK_STATE_SUBMITTED' })).rejects.toMatchObject({
      code: 'state_not_allowed',
    })
  })

  it('refuses a message that crossed it, at the provider', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between)
    between.hold()
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_COMPLETED' })
    await requester.tasks.send(sending(provider, asking('one more', { taskId: key.id })))
    between.release()
    await between.idle()
    expect(provider.network.refused).toEqual(['task_terminal'])
    expect(requester.tasks.summary(key)?.state).toBe('TASK_STATE_COMPLETED')
  })
})

describe('cancel', () => {
  it('ends a waiting task at once, and repeating it has the same effect', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between)
    const asked = await requester.tasks.cancel(key)
    expect(asked).toMatchObject({ cancelRequested: true, state: 'TASK_STATE_SUBMITTED' })
    await requester.tasks.cancel(key)
    await between.idle()
    expect(requester.tasks.summary(key)?.state).toBe('TASK_STATE_CANCELED')
    expect(provider.tasks.summary(key)?.state).toBe('TASK_STATE_CANCELED')
    expect(provider.tasks.inbox.list({ limit: 10 }).open).toBe(0)
    const again = await requester.tasks.cancel(key)
    expect(again.stateSeq).toBe(requester.tasks.summary(key)?.stateSeq)
    expect(requester.tasks.entries(key).filter(({ kind }) => kind === 'cancel')).toHaveLength(1)
  })

  it('loses against a completion that it crossed, on both sides', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between)
    between.hold()
    await requester.tasks.cancel(key)
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_COMPLETED' })
    between.release()
    await between.idle()
    expect(requester.tasks.summary(key)?.state).toBe('TASK_STATE_COMPLETED')
    expect(provider.tasks.summary(key)?.state).toBe('TASK_STATE_COMPLETED')
    expect(provider.evidence(key)).toContain('task.late')
    await expect(requester.tasks.cancel(key)).rejects.toMatchObject({ code: 'task_not_cancelable' })
  })

  it('wins against a completion that comes after it', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between)
    await requester.tasks.cancel(key)
    await between.idle()
    await expect(provider.tasks.provider.status(key, { state: 'TASK_STATE_COMPLETED' })).rejects.toMatchObject({
      code: 'task_terminal',
    })
    expect(requester.tasks.summary(key)?.state).toBe('TASK_STATE_CANCELED')
  })

  it("of a peer's task by the operator tells the peer", async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between)
    expect(await provider.tasks.cancel(key)).toMatchObject({ state: 'TASK_STATE_CANCELED' })
    await between.idle()
    expect(requester.tasks.summary(key)?.state).toBe('TASK_STATE_CANCELED')
  })

  it('of an unknown task is task_not_found', async () => {
    const { requester } = await taskPair()
    await expect(requester.tasks.cancel({ requester: requester.aid, id: '00' })).rejects.toMatchObject({
      code: 'task_not_found',
    })
  })
})

describe('what comes late', () => {
  it('is on record and changes nothing', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between)
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_FAILED', reason: 'no_luck' })
    await between.idle()
    const before = requester.tasks.get(key)
    // another implementation, or a node restored from an older backup, may still send something
    const send = async (type: 'task.status' | 'task.artifact', body: never): Promise<void> => {
      const prepared = await provider.network.prepareBody(type, body)
      await provider.store.write((tx) =>
        provider.network.enqueue(tx, { to: requester.aid, type, task: key, body: prepared }),
      )
      await between.idle()
    }
    await send('task.status', { state: 'TASK_STATE_COMPLETED', at: 1 } as never)
    await send('task.artifact', { artifact: { artifactId: 'a', parts: [] }, append: false, lastChunk: true } as never)
    expect(requester.tasks.get(key)).toEqual(before)
    expect(requester.evidence(key).slice(-2)).toEqual(['task.late', 'task.late'])
    expect(requester.network.refused).toEqual([])
  })
})

describe('the inbound policy', () => {
  it('refuses strangers when it is closed, before anything of theirs is kept', async () => {
    const { between, requester, provider } = await taskPair()
    provider.config = configSchema.parse({})
    const { key } = await delivered(requester, provider, between)
    expect(requester.tasks.summary(key)).toMatchObject({ state: 'TASK_STATE_REJECTED', reason: 'not_accepting' })
    expect(provider.tasks.summary(key)).toBeUndefined()
    expect(provider.evidence(key)).toEqual(['task.refused'])
    expect(requester.evidence(key)).toContain('task.refused')
  })

  it('refuses a replay too, even when the policy has become open', async () => {
    const { between, requester, provider } = await taskPair()
    provider.config = configSchema.parse({})
    const { key } = await delivered(requester, provider, between)
    provider.config = configSchema.parse({ inbound: { policy: 'open' } })
    const { message, nonce } = { message: asking(), nonce: new Uint8Array(32) }
    const body = await requester.network.prepareBody('task.open', {
      contextId: 'c',
      nonce,
      message: { ...message, parts: [{ text: 'again' }] },
    })
    await requester.store.write((tx) =>
      requester.network.enqueue(tx, { to: provider.aid, type: 'task.open', task: key, body }),
    )
    await between.idle()
    expect(provider.network.refused).toEqual(['task_refused'])
    expect(provider.tasks.summary(key)).toBeUndefined()
  })

  it('says whether the requester is on a list', async () => {
    const { between, requester, provider } = await taskPair()
    expect(requester.tasks.listedBy(provider.aid)).toBeUndefined()
    await delivered(requester, provider, between)
    expect(requester.tasks.listedBy(provider.aid)).toBe(false)
    provider.config = configSchema.parse({ peers: { allow: [{ aid: requester.aid }] } })
    await delivered(requester, provider, between)
    expect(requester.tasks.listedBy(provider.aid)).toBe(true)
  })

  it('counts from the next message on: a peer that was denied meanwhile has its task rejected', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between)
    provider.config = configSchema.parse({ inbound: { policy: 'open' }, peers: { deny: [{ aid: requester.aid }] } })
    await delivered(requester, provider, between, asking('more', { taskId: key.id }))
    expect(requester.tasks.summary(key)).toMatchObject({ state: 'TASK_STATE_REJECTED', reason: 'not_accepting' })
    expect(provider.tasks.get(key)?.history.map(textOf)).toEqual(['hello'])
    expect(provider.tasks.inbox.list({ limit: 10 }).open).toBe(0)
  })
})
