import { randomUUID } from 'node:crypto'
import { CancelTaskRequest, GetTaskRequest, ListTasksRequest } from '@a2a-js/sdk'
import type { Client } from '@a2a-js/sdk/client'
import { TaskNotCancelableError } from '@a2a-js/sdk/errors'
import { isTerminal, type Task } from '@shared/a2a/index.ts'
import { expect, test } from 'vitest'
import { artifactTexts, immediately, request, wire } from '../../helpers/sdk-client.ts'
import { longText, type SdkDesk } from './desk.ts'

const get = async (client: Client, id: string, more: object = {}): Promise<Task> =>
  wire(await client.getTask(GetTaskRequest.fromJSON({ id, ...more })))
const state = async (client: Client, id: string) => (await get(client, id)).status.state
const cancel = async (client: Client, id: string): Promise<Task> =>
  wire(await client.cancelTask(CancelTaskRequest.fromJSON({ id })))

/** Everything but streams: cards, sends, reads, lists, questions, cancels. */
export function operations(desk: SdkDesk): void {
  test.each([false, true])('discovers the agent (by the URL of its card: %s)', async (byCardUrl) => {
    const client = await desk.client('Echo', { byCardUrl })
    expect(client.protocolVersion).toBe('1.0')
    const card = await client.getAgentCard()
    expect(card).toMatchObject({
      name: 'Echo',
      capabilities: { streaming: true, pushNotifications: false },
      skills: [{ id: 'echo', name: 'Echo' }],
    })
    const { url } = desk.demo().agent('Echo')
    const interfaces = card.supportedInterfaces.map(({ url: at, protocolBinding }) => [protocolBinding, at])
    expect(interfaces).toEqual([
      ['JSONRPC', `${url}/jsonrpc`],
      ['HTTP+JSON', `${url}/rest`],
    ])
    expect(wire(await client.sendMessage(request('hello'))).status.state).toBe('TASK_STATE_COMPLETED')
  })

  test('sends and waits: reply and file', async () => {
    const task = wire(await (await desk.client('Echo')).sendMessage(request('one two three')))
    expect(task.status.state).toBe('TASK_STATE_COMPLETED')
    expect(task.artifacts?.map(({ parts }) => parts)).toEqual([
      [{ text: 'one two three' }],
      [{ raw: Buffer.from('one two three').toString('base64'), filename: 'echo.txt', mediaType: 'text/plain' }],
    ])
  })

  test('sends without waiting, and reads the task until it is done', async () => {
    const client = await desk.client('Echo')
    const sent = wire(await client.sendMessage(immediately(longText)))
    expect(isTerminal(sent.status.state)).toBe(false)
    await expect.poll(() => state(client, sent.id), { timeout: 20_000 }).toBe('TASK_STATE_COMPLETED')
    const read = await get(client, sent.id)
    expect(artifactTexts(read)[0]).toBe(longText)
    expect(read.history?.[0]?.parts).toEqual([{ text: longText }])
    expect((await get(client, sent.id, { historyLength: 0 })).history ?? []).toEqual([])
    expect((await get(client, sent.id, { historyLength: 1 })).history).toHaveLength(1)
  })

  test('lists in pages, newest first, with and without artifacts', async () => {
    const client = await desk.client('Echo')
    const contextId = randomUUID()
    const ids: string[] = []
    for (const text of ['a', 'b', 'c', 'd', 'e']) {
      // one after the other: the order is looked at
      // oxlint-disable-next-line no-await-in-loop
      const task = wire(await client.sendMessage(request(text, { contextId })))
      expect(task.contextId).toBe(contextId)
      ids.unshift(task.id)
    }
    const listed: string[] = []
    const sizes: number[] = []
    let pageToken = ''
    do {
      // oxlint-disable-next-line no-await-in-loop
      const page = await client.listTasks(ListTasksRequest.fromJSON({ contextId, pageSize: 2, pageToken }))
      expect(page).toMatchObject({ pageSize: 2, totalSize: 5 })
      expect(page.tasks.every(({ artifacts }) => artifacts.length === 0)).toBe(true)
      listed.push(...page.tasks.map(({ id }) => id))
      sizes.push(page.tasks.length)
      pageToken = page.nextPageToken
    } while (pageToken !== '')
    expect(sizes).toEqual([2, 2, 1])
    expect(listed).toEqual(ids)

    const whole = await client.listTasks(ListTasksRequest.fromJSON({ contextId, includeArtifacts: true }))
    expect(whole.tasks.map((task) => artifactTexts(wire(task))[0])).toEqual(['e', 'd', 'c', 'b', 'a'])
    const failed = ListTasksRequest.fromJSON({ contextId, status: 'TASK_STATE_FAILED' })
    expect(await client.listTasks(failed)).toMatchObject({ tasks: [], totalSize: 0, nextPageToken: '' })
    const others = await (await desk.client('Asker')).listTasks(ListTasksRequest.fromJSON({ contextId }))
    expect(others.tasks).toEqual([])
  })

  test.each(['the task', 'its context alone'])('answers a question by %s', async (by) => {
    const client = await desk.client('Asker')
    const asked = wire(await client.sendMessage(request('An invitation')))
    expect(asked.status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { role: 'ROLE_AGENT', parts: [{ text: 'For whom is it?' }] },
    })
    const where = by === 'the task' ? { taskId: asked.id } : { contextId: asked.contextId ?? '' }
    const done = wire(await client.sendMessage(request('Ann', where)))
    expect(done).toMatchObject({ id: asked.id, contextId: asked.contextId })
    expect(done.status.state).toBe('TASK_STATE_COMPLETED')
    expect(artifactTexts(done)).toEqual(['For Ann: An invitation'])
    const { tasks } = await client.listTasks(ListTasksRequest.fromJSON({ contextId: asked.contextId }))
    expect(tasks.map(({ id }) => id)).toEqual([asked.id])
  })

  test('a context whose question was canceled takes a new task', async () => {
    const client = await desk.client('Asker')
    const contextId = randomUUID()
    const first = wire(await client.sendMessage(request('one', { contextId })))
    await client.cancelTask(CancelTaskRequest.fromJSON({ id: first.id }))
    await expect.poll(() => state(client, first.id), { timeout: 20_000 }).toBe('TASK_STATE_CANCELED')
    const second = wire(await client.sendMessage(request('two', { contextId })))
    expect(second.id).not.toBe(first.id)
    expect(second.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
  })

  test('cancels a task that waits for an answer', async () => {
    const client = await desk.client('Asker')
    const { id } = wire(await client.sendMessage(request('An invitation')))
    expect((await cancel(client, id)).id).toBe(id)
    await expect.poll(() => state(client, id), { timeout: 20_000 }).toBe('TASK_STATE_CANCELED')
    await expect(cancel(client, id)).resolves.toMatchObject({ id, status: { state: 'TASK_STATE_CANCELED' } })
  })

  test('cannot cancel a task that has ended', async () => {
    const client = await desk.client('Echo')
    const { id } = wire(await client.sendMessage(request('short')))
    await expect(cancel(client, id)).rejects.toThrow(TaskNotCancelableError)
    expect(await state(client, id)).toBe('TASK_STATE_COMPLETED')
  })
}
