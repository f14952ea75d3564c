import { describe, expect, it } from 'vitest'
import type { TaskKey } from '../../../src-main/node/network/index.ts'
import type { TaskPreview, TaskRecord, Tasks, TaskUpdate } from '../../../src-main/node/tasks/index.ts'
import { asking, delivered, saying, sending, taskPair, textOf } from '../../helpers/task-node.ts'

/** What one listener of a task sees. */
function watch(tasks: Tasks, key: TaskKey): { task: TaskRecord; updates: TaskUpdate[]; close: () => void } {
  const updates: TaskUpdate[] = []
  const subscription = tasks.subscribe(key, { onUpdate: (update) => updates.push(update) })
  if (subscription === undefined) throw new Error('no such task')
  return { ...subscription, updates }
}

const seqs = (updates: readonly TaskUpdate[]): number[] => updates.map(({ entry }) => entry.seq)

describe('a subscription', () => {
  it('begins with the task as it is and goes on without gap or repetition, the same for all', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between)
    const early = watch(requester.tasks, key)
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_WORKING', message: saying('a') })
    await between.idle()
    const late = watch(requester.tasks, key)
    const artifact = { artifactId: 'r', parts: [{ text: 'b' }] }
    await provider.tasks.provider.artifact(key, { artifact, append: false, lastChunk: true })
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_COMPLETED' })
    await between.idle()
    expect(early.updates.length).toBe(3)
    expect(seqs(early.updates)).toEqual(seqs(early.updates).map((_, index) => early.task.stateSeq + 1 + index))
    expect(late.updates).toEqual(early.updates.slice(1))
    expect(textOf(late.task.status.message)).toBe('a')
    expect(late.updates.at(-1)?.task).toMatchObject({ state: 'TASK_STATE_COMPLETED' })
  })

  it('that begins inside an announcement misses nothing and sees nothing twice', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between)
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_INPUT_REQUIRED', message: saying('?') })
    await between.idle()
    const inner: ReturnType<typeof watch>[] = []
    // an answer is two entries in one transaction: the second follows while the first is announced
    const outer = requester.tasks.subscribe(key, {
      onUpdate: () => void inner.push(watch(requester.tasks, key)),
    })
    await requester.tasks.send(sending(provider, asking('!', { taskId: key.id })))
    expect(inner).toHaveLength(2)
    for (const { task, updates } of inner) {
      expect([task.stateSeq, ...seqs(updates)].at(-1)).toBe(requester.tasks.summary(key)?.stateSeq)
      expect(seqs(updates)).toEqual(seqs(updates).map((_, index) => task.stateSeq + 1 + index))
    }
    outer?.close()
  })

  it('that is closed or fails disturbs no other', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between)
    const closed = watch(requester.tasks, key)
    requester.tasks.subscribe(key, {
      onUpdate: () => {
        throw new Error('this client is broken')
      },
    })
    const other = watch(requester.tasks, key)
    closed.close()
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_WORKING' })
    await between.idle()
    expect(closed.updates).toEqual([])
    expect(other.updates).toHaveLength(1)
    expect(requester.tasks.summary(key)?.state).toBe('TASK_STATE_WORKING')
  })

  it('to nothing is undefined', async () => {
    const { requester } = await taskPair()
    const key = { requester: requester.aid, id: '0'.repeat(32) }
    expect(requester.tasks.subscribe(key, { onUpdate: () => {} })).toBeUndefined()
  })

  it('leaves nothing behind, ten thousand times', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between)
    const ended = new WeakRef(watch(requester.tasks, key))
    ended.deref()?.close()
    for (let round = 0; round < 10_000; round += 1) watch(requester.tasks, key).close()
    const one = watch(requester.tasks, key)
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_WORKING' })
    await between.idle()
    expect(one.updates).toHaveLength(1)
  })
})

describe('previews', () => {
  it('reach those who want them and are never part of the task', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between)
    const previews: TaskPreview[] = []
    const all: TaskPreview[] = []
    const plain = watch(requester.tasks, key)
    requester.tasks.subscribe(key, { onUpdate: () => {}, onPreview: (preview) => previews.push(preview) })
    requester.tasks.onPreview((preview) => all.push(preview))
    const before = requester.tasks.get(key)
    provider.tasks.provider.preview(key, { artifactId: 'reply', parts: [{ text: 'half of i' }] })
    await between.idle()
    expect(previews).toEqual([{ key, artifact: { artifactId: 'reply', parts: [{ text: 'half of i' }] } }])
    expect(all).toEqual(previews)
    expect(plain.updates).toEqual([])
    expect(requester.tasks.get(key)).toEqual(before)
  })

  it('of an ended task are dropped', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between)
    const previews: TaskPreview[] = []
    requester.tasks.onPreview((preview) => previews.push(preview))
    between.hold()
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_COMPLETED' })
    provider.tasks.provider.preview(key, { artifactId: 'reply', parts: [] })
    between.release()
    await between.idle()
    expect(previews).toEqual([])
  })
})

describe('waiting for a task', () => {
  it('ends at a terminal or interrupted state, and at once if it is there already', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between)
    const asked = requester.tasks.settled(key)
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_WORKING' })
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_INPUT_REQUIRED', message: saying('?') })
    expect((await asked).state).toBe('TASK_STATE_INPUT_REQUIRED')
    expect((await requester.tasks.settled(key)).state).toBe('TASK_STATE_INPUT_REQUIRED')
    await requester.tasks.send(sending(provider, asking('!', { taskId: key.id })))
    // the question was answered: it is not what the next wait is for
    const answered = requester.tasks.settled(key)
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_COMPLETED' }).catch(() => undefined)
    expect((await answered).state).toBe('TASK_STATE_COMPLETED')
  })

  it('ends when it is aborted, with the task as it is', async () => {
    const { requester, provider } = await taskPair()
    const { task } = await requester.tasks.send(sending(provider))
    const leaving = new AbortController()
    const waiting = requester.tasks.settled(task.key, leaving.signal)
    leaving.abort()
    expect((await waiting).state).toBe('TASK_STATE_SUBMITTED')
    expect((await requester.tasks.settled(task.key, AbortSignal.abort())).key).toEqual(task.key)
  })

  it('ends when the node stops', async () => {
    const { requester, provider } = await taskPair()
    const { task } = await requester.tasks.send(sending(provider))
    const waiting = requester.tasks.settled(task.key)
    await requester.tasks.stop()
    expect((await waiting).key).toEqual(task.key)
  })

  it('for a task that does not exist is task_not_found', async () => {
    const { requester } = await taskPair()
    await expect(requester.tasks.settled({ requester: requester.aid, id: 'x' })).rejects.toMatchObject({
      code: 'task_not_found',
    })
  })
})

describe('listening to all tasks', () => {
  it('tells every entry of every task, after its commit', async () => {
    const { between, requester, provider } = await taskPair()
    const seen: [string, number][] = []
    provider.tasks.onChange(({ task, entry }) => {
      // what is announced can be read at once
      expect(provider.tasks.entries(task.key).some(({ seq }) => seq === entry.seq)).toBe(true)
      seen.push([task.key.id, entry.seq])
    })
    const a = await delivered(requester, provider, between)
    const b = await delivered(requester, provider, between)
    for (const { key } of [a, b]) {
      const entries = provider.tasks.entries(key).map(({ seq }) => [key.id, seq])
      expect(seen.filter(([id]) => id === key.id)).toEqual(entries)
    }
  })
})
