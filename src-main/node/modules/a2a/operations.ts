import {
  isInterrupted,
  isTerminal,
  type CancelTaskRequest,
  type GetTaskRequest,
  type ListTasksRequest,
  type SendMessageRequest,
  type SubscribeToTaskRequest,
} from '@shared/a2a/index.ts'
import type { Aid } from '@shared/wire/index.ts'
import type { Log } from '../../ports.ts'
import type { TaskKey } from '../../network/index.ts'
import { type Tasks, type TaskSummary, taskWithBytes, taskWithoutBytes } from '../../tasks/index.ts'
import { A2aFailure, taskNotFound } from './errors.ts'
import { TaskTexts } from './task-texts.ts'

const defaultPageSize = 50

/**
 * The operations of A2A 1.0 on the tasks of one remote agent, for both bindings. Results are JSON texts: a binding puts
 * them into its own envelope without parsing them again. Every error is an {@link A2aFailure} or an AnetError.
 */
export interface Operations {
  /** `{"task": …}`, at once or, for a blocking send, when the task has settled. Undefined: the client has gone. */
  sendMessage(agent: Aid, request: SendMessageRequest, signal: AbortSignal): Promise<string | undefined>
  /** Sends, and names the task whose stream the client wants. */
  sendForStream(agent: Aid, request: SendMessageRequest): Promise<TaskKey>
  /** The same for a subscription. */
  taskForStream(agent: Aid, request: SubscribeToTaskRequest): TaskKey
  getTask(agent: Aid, request: GetTaskRequest): Promise<string> | string
  listTasks(agent: Aid, request: ListTasksRequest): Promise<string>
  cancelTask(agent: Aid, request: CancelTaskRequest): Promise<string>
}

export function createOperations(parts: { tasks: Tasks; own: Aid; log: Log }): Operations {
  const { tasks, own } = parts
  const texts = new TaskTexts(tasks)
  const materialise: Tasks['materialise'] = (part) => tasks.materialise(part)

  /** A task of somebody else, or one that a peer opened here, looks exactly like one that does not exist. */
  function summaryOf(agent: Aid, id: string): TaskSummary {
    const summary = tasks.summary({ requester: own, id })
    if (summary === undefined || summary.direction !== 'out' || summary.peer !== agent) throw taskNotFound()
    return summary
  }

  async function send(agent: Aid, request: SendMessageRequest): Promise<TaskSummary> {
    if (request.configuration?.taskPushNotificationConfig !== undefined) throw pushNotSupported()
    const { message } = request
    if (message.role !== 'ROLE_USER') {
      throw new A2aFailure('InvalidParamsError', 'message.role: a client sends ROLE_USER.', {
        violations: [{ field: 'message.role', description: 'a client sends ROLE_USER' }],
      })
    }
    const { task } = await tasks.send({ agent, message, client: 'a2a' })
    return task
  }

  return {
    async sendMessage(agent, request, signal) {
      let task = await send(agent, request)
      const blocking = request.configuration?.returnImmediately !== true
      if (blocking && !isTerminal(task.state) && !isInterrupted(task.state)) {
        task = await tasks.settled(task.key, signal)
      }
      if (signal.aborted) return undefined
      return `{"task":${await texts.of(task, request.configuration?.historyLength)}}`
    },

    async sendForStream(agent, request) {
      return (await send(agent, request)).key
    },

    taskForStream(agent, request) {
      const summary = summaryOf(agent, request.id)
      if (isTerminal(summary.state)) {
        throw new A2aFailure('UnsupportedOperationError', 'The task has ended: read it with GetTask.')
      }
      return summary.key
    },

    getTask(agent, request) {
      return texts.of(summaryOf(agent, request.id), request.historyLength)
    },

    async listTasks(agent, request) {
      const pageSize = request.pageSize ?? defaultPageSize
      const { status, statusTimestampAfter } = request
      const page = tasks.list({
        direction: 'out',
        peer: agent,
        limit: pageSize,
        ...(request.contextId === undefined || request.contextId === '' ? {} : { contextId: request.contextId }),
        ...(status === undefined || status === '' || status === 'TASK_STATE_UNSPECIFIED' ? {} : { state: status }),
        ...(statusTimestampAfter === undefined ? {} : { statusSince: firstMillisecond(statusTimestampAfter) }),
        ...(request.pageToken === undefined || request.pageToken === '' ? {} : { cursor: request.pageToken }),
      })
      const listed: string[] = []
      for (const summary of page.tasks) {
        const record = tasks.get(summary.key)
        if (record === undefined) continue
        const artifacts = request.includeArtifacts === true
        const form = { historyLength: request.historyLength ?? 0, artifacts }
        // one after the other: files of many tasks at once would fill the memory
        // oxlint-disable-next-line no-await-in-loop
        const task = artifacts ? await taskWithBytes(record, materialise, form) : taskWithoutBytes(record, form)
        listed.push(JSON.stringify(task))
      }
      const { nextCursor, total } = page
      return `{"tasks":[${listed.join(',')}],"nextPageToken":${JSON.stringify(nextCursor)},"pageSize":${pageSize},"totalSize":${total}}`
    },

    async cancelTask(agent, request) {
      const { key } = summaryOf(agent, request.id)
      return texts.of(await tasks.cancel(key, request.metadata), undefined)
    },
  }
}

export function pushNotSupported(): A2aFailure {
  return new A2aFailure(
    'PushNotificationNotSupportedError',
    'This interface sends no push notifications: stream the task or subscribe to it.',
  )
}

/** The first whole millisecond at or after an RFC 3339 time, which may be finer than the node's clock. */
function firstMillisecond(time: string): number {
  const finer = /\.\d{3}(\d+)/.exec(time)?.[1]
  return Date.parse(time) + (finer !== undefined && /[1-9]/.test(finer) ? 1 : 0)
}
