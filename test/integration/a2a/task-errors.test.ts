import { describe, expect, test } from 'vitest'
import { AnetError } from '@shared/errors.ts'
import { expectBoth, hello, rest, rpcError } from '../../helpers/endpoint-calls.ts'
import { endpointDesk, otherAgent } from '../../helpers/endpoint-desk.ts'

describe('errors of the task layer', () => {
  test('what another agent or nobody has is TaskNotFoundError, in every operation', async () => {
    const desk = await endpointDesk()
    const foreign = [
      desk.tasks.open({ peer: otherAgent }),
      desk.tasks.open({ direction: 'in' }),
      'nothing',
      '%',
      '../x',
    ]
    for (const id of foreign) {
      await expectBoth(
        'TaskNotFoundError',
        await desk.rpc('GetTask', { id }),
        await rest(desk, `tasks/${encodeURIComponent(id)}`),
      )
      await expectBoth(
        'TaskNotFoundError',
        await desk.rpc('CancelTask', { id }),
        await rest(desk, `tasks/${encodeURIComponent(id)}:cancel`, { method: 'POST' }),
      )
      await expectBoth(
        'TaskNotFoundError',
        await desk.rpc('SubscribeToTask', { id }),
        await rest(desk, `tasks/${encodeURIComponent(id)}:subscribe`),
      )
    }
    expect((await (await desk.rpc('ListTasks')).json()).result).toMatchObject({ tasks: [], totalSize: 0 })
  })

  test('a task that has ended is not cancelable, takes no message and has no stream', async () => {
    const desk = await endpointDesk()
    const id = desk.tasks.open()
    desk.tasks.status(id, 'TASK_STATE_COMPLETED')
    await expectBoth(
      'TaskNotCancelableError',
      await desk.rpc('CancelTask', { id }),
      await rest(desk, `tasks/${id}:cancel`, { method: 'POST' }),
    )
    const more = { message: { ...hello.message, taskId: id } }
    await expectBoth(
      'UnsupportedOperationError',
      await desk.rpc('SendMessage', more),
      await rest(desk, 'message:send', { body: more }),
    )
    await expectBoth(
      'UnsupportedOperationError',
      await desk.rpc('SubscribeToTask', { id }),
      await rest(desk, `tasks/${id}:subscribe`, { method: 'POST' }),
    )
  })

  test('a context that is not that of the task is refused by its field', async () => {
    const desk = await endpointDesk()
    const id = desk.tasks.open()
    const error = await rpcError(
      await desk.rpc('SendMessage', { message: { ...hello.message, taskId: id, contextId: 'other' } }),
    )
    expect(error.code).toBe(-32602)
    expect(JSON.stringify(error.data)).toContain('"message.contextId"')
  })

  test('not registered: the sentence of the join state, and no task', async () => {
    const desk = await endpointDesk()
    desk.tasks.refusal = new AnetError('not_registered', 'This node has not joined a hub yet: run "anet join URL".')
    for (const method of ['message:send', 'message:stream']) {
      const viaRest = await rest(desk, method, { body: hello })
      expect(viaRest.headers.get('retry-after')).toBe('5')
      const viaRpc = await desk.rpc(method === 'message:send' ? 'SendMessage' : 'SendStreamingMessage', hello)
      const { error } = await viaRpc.clone().json()
      expect(error.message).toBe('This node has not joined a hub yet: run "anet join URL".')
      expect(error.data[0].metadata).toEqual({ 'anet.reason': 'not_registered' })
      await expectBoth('UnavailableError', viaRpc, viaRest)
    }
    expect(desk.tasks.list({ limit: 1 }).total).toBe(0)
  })

  test('what nobody expected is an internal error without its text', async () => {
    const desk = await endpointDesk()
    desk.tasks.summary = () => {
      throw new Error('secret path /home/someone')
    }
    const viaRpc = await desk.rpc('GetTask', { id: 'x' })
    expect(await viaRpc.clone().text()).not.toContain('secret')
    await expectBoth('InternalError', viaRpc, await rest(desk, 'tasks/x'))
  })

  test('push notifications are not supported: four operations and a configuration in a send', async () => {
    const desk = await endpointDesk()
    const id = desk.tasks.open()
    const operations = [
      ['CreateTaskPushNotificationConfig', 'POST', `tasks/${id}/pushNotificationConfigs`],
      ['GetTaskPushNotificationConfig', 'GET', `tasks/${id}/pushNotificationConfigs/c1`],
      ['ListTaskPushNotificationConfigs', 'GET', `tasks/${id}/pushNotificationConfigs`],
      ['DeleteTaskPushNotificationConfig', 'DELETE', `tasks/${id}/pushNotificationConfigs/c1`],
    ] as const
    for (const [method, verb, path] of operations) {
      const viaRest = await rest(desk, path, {
        method: verb,
        ...(verb === 'POST' ? { body: { url: 'https://x.example' } } : {}),
      })
      await expectBoth('PushNotificationNotSupportedError', await desk.rpc(method, { taskId: id, id: 'c1' }), viaRest)
    }
    const send = { ...hello, configuration: { taskPushNotificationConfig: { url: 'https://x.example' } } }
    await expectBoth(
      'PushNotificationNotSupportedError',
      await desk.rpc('SendMessage', send),
      await rest(desk, 'message:send', { body: send }),
    )
    expect(desk.tasks.list({ limit: 9 }).total).toBe(1)
  })

  test('there is no extended card where none is declared', async () => {
    const desk = await endpointDesk()
    await expectBoth(
      'UnsupportedOperationError',
      await desk.rpc('GetExtendedAgentCard'),
      await rest(desk, 'extendedAgentCard'),
    )
  })
})
