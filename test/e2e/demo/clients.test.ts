import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import {
  CancelTaskRequest,
  GetTaskRequest,
  ListTasksRequest,
  SendMessageRequest,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
} from '@a2a-js/sdk'
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'
import { type Task as WireTask, taskSchema } from '@shared/a2a/index.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anetJson } from '../../helpers/anet-command.ts'
import { type RunningDemo, startDemo } from '../../helpers/demo.ts'

const run = promisify(execFile)
type AgentName = Parameters<RunningDemo['agent']>[0]

let demo: RunningDemo
beforeAll(async () => {
  demo = await startDemo()
})
afterAll(() => demo?.stop())

/** The SDK's client as its documentation builds it; only the token is added. */
async function sdkClient(agent: AgentName, transport: 'JSONRPC' | 'HTTP+JSON'): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('authorization', `Bearer ${demo.token()}`)
    return fetch(input, { ...init, headers })
  }
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
    preferredTransports: [transport],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  })
  return factory.createFromUrl(`${demo.agent(agent).url}/`)
}

const message = (text: string, more: object = {}) =>
  SendMessageRequest.fromJSON({ message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more } })
const wire = (result: unknown): WireTask => taskSchema.parse(Task.toJSON(result as Task))

describe.each(['JSONRPC', 'HTTP+JSON'] as const)('an unmodified SDK client over %s', (transport) => {
  test('discovers the agent, sends, and gets reply and file', async () => {
    const client = await sdkClient('Echo', transport)
    expect((await client.getAgentCard()).name).toBe('Echo')
    const task = wire(await client.sendMessage(message('one two three')))
    expect(task.status.state).toBe('TASK_STATE_COMPLETED')
    expect(task.artifacts?.map(({ parts }) => parts)).toEqual([
      [{ text: 'one two three' }],
      [{ raw: Buffer.from('one two three').toString('base64'), filename: 'echo.txt', mediaType: 'text/plain' }],
    ])
  })

  test('streams: the task, its artifacts, its end', async () => {
    const client = await sdkClient('Echo', transport)
    const events = []
    for await (const event of client.sendMessageStream(message('one two three')))
      events.push(StreamResponse.toJSON(event))
    expect(events[0]).toHaveProperty('task')
    expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } })
    const texts = events.flatMap((event) => JSON.stringify(event).match(/one two three/g) ?? [])
    expect(texts.length).toBeGreaterThanOrEqual(2)
  })

  test('answers the question of an agent, and finds the task in the list', async () => {
    const client = await sdkClient('Asker', transport)
    const asked = wire(await client.sendMessage(message('An invitation')))
    expect(asked.status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { role: 'ROLE_AGENT', parts: [{ text: 'For whom is it?' }] },
    })
    const done = wire(await client.sendMessage(message('Ann', { taskId: asked.id })))
    expect(done.id).toBe(asked.id)
    expect(done.artifacts?.[0]?.parts).toEqual([{ text: 'For Ann: An invitation' }])
    const { tasks } = await client.listTasks(ListTasksRequest.fromJSON({ contextId: asked.contextId }))
    expect(tasks.map(({ id }) => id)).toEqual([asked.id])
  })

  test('subscribes again, and sees everything that happened', async () => {
    const client = await sdkClient('Echo', transport)
    const long = Array.from({ length: 200 }, (_, word) => `word${word}`).join(' ')
    const request = SendMessageRequest.fromJSON({
      ...(SendMessageRequest.toJSON(message(long)) as object),
      configuration: { returnImmediately: true },
    })
    const { id } = wire(await client.sendMessage(request))
    const seen = []
    for await (const event of client.resubscribeTask(SubscribeToTaskRequest.fromJSON({ id }))) {
      seen.push(JSON.stringify(StreamResponse.toJSON(event)))
    }
    expect(seen[0]).toContain('"task"')
    expect(seen.join('')).toContain(long)
    expect(seen.at(-1)).toContain('TASK_STATE_COMPLETED')
  })

  test('cancels', async () => {
    const client = await sdkClient('Asker', transport)
    const { id } = wire(await client.sendMessage(message('An invitation')))
    await client.cancelTask(CancelTaskRequest.fromJSON({ id }))
    let task = wire(await client.getTask(GetTaskRequest.fromJSON({ id })))
    for (const until = Date.now() + 20_000; task.status.state !== 'TASK_STATE_CANCELED' && Date.now() < until;) {
      task = wire(await client.getTask(GetTaskRequest.fromJSON({ id })))
    }
    expect(task.status.state).toBe('TASK_STATE_CANCELED')
  })
})

test('the command line, curl and the SDK get the same summary of a text', async () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../../docs/first-task.md'), 'utf8')
  const text = page.replace(/```[\s\S]*?```/g, '').slice(0, 3000)
  const { aid, url } = demo.agent('Summariser')
  const first = (task: { artifacts?: WireTask['artifacts'] }) => task.artifacts?.[0]?.parts[0]?.text

  const viaCli = await anetJson<WireTask>(['send', aid, text], { dataDir: demo.ready.dataDir })
  const viaSdk = wire(await (await sdkClient('Summariser', 'JSONRPC')).sendMessage(message(text)))
  const body = JSON.stringify({ message: { messageId: 'm-curl', role: 'ROLE_USER', parts: [{ text }] } })
  const headers = ['-H', `Authorization: Bearer ${demo.token()}`, '-H', 'Content-Type: application/json']
  const { stdout } = await run('curl', ['-s', ...headers, '-d', body, `${url}/rest/message:send`])
  const viaCurl = taskSchema.parse((JSON.parse(stdout) as { task: unknown }).task)

  expect(first(viaCli)).toBeTruthy()
  expect(first(viaCli)?.length).toBeLessThan(text.length / 2)
  expect(first(viaSdk)).toBe(first(viaCli))
  expect(first(viaCurl)).toBe(first(viaCli))
})
