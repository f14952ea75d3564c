import { expect, test } from 'vitest'
import type { NodeEvent, NodeView, TaskSummaryView } from '../../../src-shared/contract/index.ts'
import { NotificationModel } from '../../../src-main/desktop/notification-model.ts'
import { aNodeView, aTaskSummary } from '../../helpers/contract-views.ts'

const nodeEvent = (value: Partial<NodeView> = {}): NodeEvent => ({
  type: 'node',
  revision: 1,
  value: { ...aNodeView, ...value },
})
const taskEvent = (value: Partial<TaskSummaryView>): NodeEvent => ({
  type: 'task',
  revision: 1,
  value: { ...aTaskSummary, ...value },
})
const inboxEvent = (open: number): NodeEvent => ({ type: 'inbox', revision: 1, open })

function conflict(since: number): Partial<NodeView> {
  const holder = { pid: 7, command: 'python3', user: 'somebody', otherUser: false, thisNode: false }
  return {
    endpoint: {
      ...aNodeView.endpoint,
      state: 'port_conflict',
      conflict: { address: '127.0.0.1:43811', since, holder, remedy: [] },
    },
  }
}

test('a task of the operator that ends is told once, and leads to the task', () => {
  const model = new NotificationModel()
  expect(model.next(taskEvent({ state: 'TASK_STATE_WORKING' }))).toEqual([])
  const done = taskEvent({ state: 'TASK_STATE_COMPLETED', title: 'Hello', peerName: 'Echo' })
  expect(model.next(done)).toMatchObject([
    { title: 'Echo: completed', body: 'Hello', destination: { view: 'tasks', id: aTaskSummary.id } },
  ])
  expect(model.next(done)).toEqual([])
})

test('each question of a task is told', () => {
  const model = new NotificationModel()
  const asks = (stateSeq: number): NodeEvent => taskEvent({ state: 'TASK_STATE_INPUT_REQUIRED', stateSeq })
  expect(model.next(asks(2))).toHaveLength(1)
  expect(model.next(asks(2))).toEqual([])
  expect(model.next(asks(4))).toHaveLength(1)
})

test('tasks of others are told by the inbox alone', () => {
  const model = new NotificationModel()
  expect(model.next(taskEvent({ direction: 'in', state: 'TASK_STATE_COMPLETED' }))).toEqual([])
})

test('the inbox is told when it grows, not what was there at the start and not when it shrinks', () => {
  const model = new NotificationModel()
  model.next(nodeEvent({ counts: { ...aNodeView.counts, inbox: 2 } }))
  expect(model.next(inboxEvent(2))).toEqual([])
  expect(model.next(inboxEvent(3))).toMatchObject([
    { key: 'inbox', body: '3 messages wait for you.', destination: { view: 'inbox' } },
  ])
  expect(model.next(inboxEvent(1))).toEqual([])
  expect(model.next(inboxEvent(2))).toHaveLength(1)
})

test('a conflict is told once for as long as it lasts, and again when it comes back', () => {
  const model = new NotificationModel()
  expect(model.next(nodeEvent(conflict(1)))).toMatchObject([
    { key: 'conflict', title: 'Your tools cannot reach this node' },
  ])
  expect(model.next(nodeEvent(conflict(1)))).toEqual([])
  expect(model.next(nodeEvent())).toEqual([])
  expect(model.next(nodeEvent(conflict(2)))).toHaveLength(1)
})
