import { randomUUID } from 'node:crypto'
import {
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  SubscribeToTaskRequest,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk'
import { JsonRpcTransportFactory, RestTransportFactory, type Transport } from '@a2a-js/sdk/client'
import {
  ContentTypeNotSupportedError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotFoundError,
  UnsupportedOperationError,
  VersionNotSupportedError,
} from '@a2a-js/sdk/errors'
import { beforeAll, describe, expect, test } from 'vitest'
import { fetchWith, request, seenAll, wire } from '../../helpers/sdk-client.ts'
import type { SdkDesk } from './desk.ts'

/** Every error arrives as the SDK's class for it, on both bindings, also where a stream was asked for. */
export function errors(desk: SdkDesk): void {
  let endedId: string
  beforeAll(async () => {
    endedId = wire(await (await desk.client('Echo')).sendMessage(request('over'))).id
  })

  describe('TaskNotFoundError', () => {
    test.each(["another agent's task", 'a task that never was'])('for %s', async (which) => {
      const client = await desk.client('Asker')
      const id = which === 'a task that never was' ? randomUUID() : endedId
      const attempts = [
        client.getTask(GetTaskRequest.fromJSON({ id })),
        client.cancelTask(CancelTaskRequest.fromJSON({ id })),
        client.sendMessage(request('hello', { taskId: id })),
        seenAll(client.sendMessageStream(request('hello', { taskId: id }))),
        seenAll(client.resubscribeTask(SubscribeToTaskRequest.fromJSON({ id }))),
      ]
      const outcomes = await Promise.allSettled(attempts)
      for (const outcome of outcomes) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(TaskNotFoundError) })
      }
    })
  })

  test('UnsupportedOperationError for a task that has ended', async () => {
    const client = await desk.client('Echo')
    const more = { taskId: endedId }
    await expect(client.sendMessage(request('more', more))).rejects.toThrow(UnsupportedOperationError)
    await expect(seenAll(client.sendMessageStream(request('more', more)))).rejects.toThrow(UnsupportedOperationError)
    const again = client.resubscribeTask(SubscribeToTaskRequest.fromJSON({ id: endedId }))
    await expect(seenAll(again)).rejects.toThrow(UnsupportedOperationError)
  })

  test('UnsupportedOperationError for an extended card that is not declared', async () => {
    expect((await (await desk.client('Echo')).getAgentCard()).capabilities?.extendedAgentCard).toBe(false)
    const transport = await transportOf(desk)
    await expect(transport.getExtendedAgentCard({ tenant: '' })).rejects.toThrow(UnsupportedOperationError)
  })

  test('PushNotificationNotSupportedError for all of the push operations, and for a send that asks for it', async () => {
    const config = { taskId: endedId, id: 'c', url: 'https://client.example/hook' }
    const client = await desk.client('Echo')
    const send = request('hello', { configuration: { taskPushNotificationConfig: config } })
    await expect(client.sendMessage(send)).rejects.toThrow(PushNotificationNotSupportedError)
    await expect(seenAll(client.sendMessageStream(send))).rejects.toThrow(PushNotificationNotSupportedError)
    // the client itself does not ask where the card says no: the transport does
    const transport = await transportOf(desk)
    const attempts = [
      transport.createTaskPushNotificationConfig(TaskPushNotificationConfig.fromJSON(config)),
      transport.getTaskPushNotificationConfig(GetTaskPushNotificationConfigRequest.fromJSON(config)),
      transport.listTaskPushNotificationConfig(ListTaskPushNotificationConfigsRequest.fromJSON(config)),
      transport.deleteTaskPushNotificationConfig(DeleteTaskPushNotificationConfigRequest.fromJSON(config)),
    ]
    for (const outcome of await Promise.allSettled(attempts)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(PushNotificationNotSupportedError) })
    }
  })

  test('VersionNotSupportedError for another version, and none for a patch of 1.0', async () => {
    const old = await desk.client('Echo', { fetch: fetchWith({ 'a2a-version': '0.3' }) })
    await expect(old.sendMessage(request('hello'))).rejects.toThrow(VersionNotSupportedError)
    await expect(seenAll(old.sendMessageStream(request('hello')))).rejects.toThrow(VersionNotSupportedError)
    const patched = await desk.client('Echo', { fetch: fetchWith({ 'a2a-version': '1.0.1' }) })
    expect(wire(await patched.sendMessage(request('hello'))).status.state).toBe('TASK_STATE_COMPLETED')
  })

  test('ContentTypeNotSupportedError for another media type', async () => {
    const client = await desk.client('Echo', { fetch: fetchWith({ 'content-type': 'text/plain' }) })
    await expect(client.sendMessage(request('hello'))).rejects.toThrow(ContentTypeNotSupportedError)
    await expect(seenAll(client.sendMessageStream(request('hello')))).rejects.toThrow(ContentTypeNotSupportedError)
  })

  test('RequestMalformedError names the field', async () => {
    const client = await desk.client('Echo')
    const attempt = (parts: readonly object[]) => client.sendMessage(request('', { parts }))
    await expect(attempt([])).rejects.toThrow(RequestMalformedError)
    await expect(attempt([])).rejects.toThrow(/message\.parts/)
    const link = attempt([{ url: 'https://files.example/a.pdf' }])
    await expect(link).rejects.toThrow(RequestMalformedError)
    await expect(link).rejects.toThrow(/Part 0 is a url.*as raw or text/)
  })

  test('a client without the token is told so', async () => {
    const stranger = desk.client('Echo', { fetch: fetchWith({ authorization: wrongToken }) })
    await expect(stranger).rejects.toThrow(/401/)
    const late = await desk.client('Echo', { fetch: forgetsToken })
    await expect(late.sendMessage(request('hello'))).rejects.toThrow(/token/)
  })

  test('an agent that there is not is told so', async () => {
    const { url } = desk.demo().agent('Echo')
    await expect(desk.client('Echo', { url: url.replace(/[^/]+$/, 'Not-an-AID') })).rejects.toThrow(/404/)
  })
}

const wrongToken = `Bearer ${'0'.repeat(64)}`

/** The token is right for the card and wrong after it: a client that was configured before it was replaced. */
const forgetsToken: typeof fetch = (input, init) =>
  init?.method === 'POST' ? fetchWith({ authorization: wrongToken })(input, init) : fetch(input, init)

/** The transport below the client, which sends what the client would refuse by the card. */
async function transportOf(desk: SdkDesk): Promise<Transport> {
  const card = await (await desk.client('Echo')).getAgentCard()
  const at = card.supportedInterfaces.find(({ protocolBinding }) => protocolBinding === desk.binding)?.url ?? ''
  const fetchImpl = fetchWith({ authorization: `Bearer ${desk.demo().token()}` })
  const Factory = desk.binding === 'JSONRPC' ? JsonRpcTransportFactory : RestTransportFactory
  return new Factory({ fetchImpl }).create(at, card)
}
