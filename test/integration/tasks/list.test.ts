import { describe, expect, it } from 'vitest'
import type { TaskQuery, Tasks } from '../../../src-main/node/tasks/index.ts'
import { asking, delivered, sending, taskPair } from '../../helpers/task-node.ts'

/** Every page of a listing: titles in order. */
function pages(tasks: Tasks, query: Omit<TaskQuery, 'limit'>, limit: number): string[][] {
  const all: string[][] = []
  let cursor = ''
  do {
    const page = tasks.list({ ...query, limit, ...(cursor === '' ? {} : { cursor }) })
    all.push(page.tasks.map(({ title }) => title))
    cursor = page.nextCursor
  } while (cursor !== '')
  return all
}

/** Two nodes with tasks in both directions, one a second, named by their number. */
async function history() {
  const pair = await taskPair()
  const { between, requester, provider } = pair
  const keys = []
  for (let n = 0; n < 9; n += 1) {
    for (const { clock } of [requester, provider]) clock.time += 1000
    const contextId = n % 2 === 0 ? 'even' : 'odd'
    const { key } = await delivered(requester, provider, between, asking(`task ${n}`, { contextId }))
    keys.push(key)
  }
  await delivered(provider, requester, between, asking('the other way'))
  return { ...pair, keys }
}

describe('the list of tasks', () => {
  it('is ordered by the newest status and comes in pages without gap or repetition', async () => {
    const { between, requester, provider, keys } = await history()
    for (const { clock } of [requester, provider]) clock.time += 1000
    await provider.tasks.provider.status(keys[3] ?? fail(), { state: 'TASK_STATE_WORKING' })
    await between.idle()
    const order = [3, 8, 7, 6, 5, 4, 2, 1, 0].map((n) => `task ${n}`)
    expect(pages(requester.tasks, { direction: 'out' }, 200)).toEqual([order])
    expect(pages(requester.tasks, { direction: 'out' }, 4)).toEqual([order.slice(0, 4), order.slice(4, 8), ['task 0']])
    expect(pages(requester.tasks, { direction: 'out' }, 1).flat()).toEqual(order)
  })

  it('holds tasks of the same instant once each', async () => {
    const { requester, provider } = await taskPair()
    await Promise.all([0, 1, 2, 3, 4].map((n) => requester.tasks.send(sending(provider, asking(`task ${n}`)))))
    const listed = pages(requester.tasks, {}, 2).flat()
    expect(listed.toSorted()).toEqual([0, 1, 2, 3, 4].map((n) => `task ${n}`))
  })

  it('counts and filters by direction, peer, context, state and time', async () => {
    const { between, requester, provider, keys } = await history()
    const { tasks } = requester
    const total = (query: Omit<TaskQuery, 'limit'>): number => {
      const page = tasks.list({ ...query, limit: 1 })
      expect(pages(tasks, query, 3).flat()).toHaveLength(page.total)
      return page.total
    }
    await provider.tasks.provider.status(keys[1] ?? fail(), { state: 'TASK_STATE_COMPLETED' })
    await provider.tasks.provider.status(keys[2] ?? fail(), { state: 'TASK_STATE_FAILED' })
    await between.idle()
    expect(total({})).toBe(10)
    expect(total({ direction: 'in' })).toBe(1)
    expect(total({ direction: 'out', state: 'open' })).toBe(7)
    expect(total({ state: 'TASK_STATE_COMPLETED' })).toBe(1)
    expect(total({ peer: provider.aid })).toBe(10)
    expect(total({ peer: requester.aid })).toBe(0)
    expect(total({ contextId: 'even', direction: 'out' })).toBe(5)
    expect(total({ contextId: 'even', peer: provider.aid, state: 'open' })).toBe(4)
    expect(total({ contextId: 'even', peer: requester.aid })).toBe(0)
    const newest = tasks.list({ direction: 'out', state: 'open', limit: 1 }).tasks[0]?.statusAt ?? 0
    expect(total({ statusSince: newest, direction: 'out', state: 'open' })).toBe(1)
    expect(total({ statusSince: newest + 1, state: 'open' })).toBe(0)
    expect(total({ statusSince: newest - 1000, contextId: 'odd', direction: 'out', state: 'open' })).toBe(1)
  })

  it('finds words in titles, in either case, and ids', async () => {
    const { requester, keys } = await history()
    expect(pages(requester.tasks, { text: 'TASK 4' }, 10)).toEqual([['task 4']])
    expect(pages(requester.tasks, { text: 'task', contextId: 'odd' }, 3)).toEqual([
      ['task 7', 'task 5', 'task 3'],
      ['task 1'],
    ])
    expect(requester.tasks.list({ text: 'task', limit: 2 }).total).toBe(9)
    expect(pages(requester.tasks, { text: keys[5]?.id.slice(0, 12) ?? 'none' }, 10)).toEqual([['task 5']])
    expect(requester.tasks.list({ text: 'nowhere', limit: 10 })).toEqual({ tasks: [], nextCursor: '', total: 0 })
  })

  it.each(['x', 'bm90IGEgY3Vyc29y', '!!!', 'MS4y'.repeat(40)])('refuses the cursor %j', async (cursor) => {
    const { requester } = await taskPair()
    expect(() => requester.tasks.list({ limit: 1, cursor })).toThrow(expect.objectContaining({ code: 'bad_cursor' }))
  })

  it('uses an index for every filter', async () => {
    const { requester } = await taskPair()
    const plan = (where: string): string =>
      requester.store.read
        .all<{ detail: string }>(
          `EXPLAIN QUERY PLAN SELECT id, status_at FROM tasks WHERE ${where} ORDER BY status_at DESC, id DESC LIMIT 5`,
        )
        .map(({ detail }) => detail)
        .join('; ')
    const wheres = {
      tasks_by_state: "direction = 'out' AND state = 'WORKING'",
      tasks_by_peer: "peer = 'p' AND direction = 'out' AND state = 'WORKING'",
      tasks_by_context: "context = 'c' AND direction = 'out' AND state = 'WORKING'",
    }
    for (const [index, where] of Object.entries(wheres)) {
      for (const more of ['', ' AND status_at >= 5', ' AND status_at <= 9 AND (status_at < 9 OR id < 3)']) {
        // no sorting: the index has the order of the listing
        expect(plan(where + more)).toMatch(new RegExp(`^SEARCH tasks USING (COVERING )?INDEX ${index} [^;]*$`))
      }
    }
  })
})

function fail(): never {
  throw new Error('no such task')
}
