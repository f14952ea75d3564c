/*
 * What users of A2A servers complain about most, each as a test with the unmodified SDK client on both bindings, or
 * by the name of the test elsewhere that shows it.
 *
 *  1 events lost on a new SubscribeToTask     here; a restart: integration/a2a/nodes.test.ts "a stream that broke"
 *  2 state lost with its client               here; kill -9: faults/kill.test.ts
 *  3 cancel never arrives, or is overwritten  here; crossing: integration/tasks/lifecycle.test.ts "cancel"
 *  4 GET :subscribe taken for a GetTask       here
 *  5 a base64 image is too large              here; 96 MiB: integration/a2a/bodies.test.ts; long events:
 *                                             integration/a2a/streams.test.ts "size"
 *  6 returnImmediately waits                  here
 *  7 the token goes to a foreign host         here (the endpoint's card); to a backend: integration/backends/
 *                                             forwarder.test.ts "a card that names another origin"
 *  8 rewritten card URLs, raw error pages     here; raw sockets: integration/a2a/checks.test.ts
 *  9 an idle stream is cut                    here; integration/a2a/streams.test.ts "a comment line"
 * 10 a retry makes a second task              here; after a restart: integration/a2a/nodes.test.ts "answers again"
 */
import { createHash, randomBytes } from 'node:crypto'
import { CancelTaskRequest, GetTaskRequest, ListTasksRequest, SubscribeToTaskRequest } from '@a2a-js/sdk'
import type { Client } from '@a2a-js/sdk/client'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { endpointDesk } from '../helpers/endpoint-desk.ts'
import { forwardingPair, type ForwardingPair } from '../helpers/forwarding-pair.ts'
import { artifactUpdate, type Script, statusUpdate, task } from '../helpers/scripted-backend.ts'
import {
  artifactTexts,
  bindings,
  immediately,
  nextEvent,
  request,
  sdkClient,
  seenAll,
  wire,
} from '../helpers/sdk-client.ts'

const patient = { timeout: 20_000 }

/** Takes a message, says that it works on it, and leaves the rest to the test. */
const working: Script = (call) => {
  if (call.method === 'CancelTask') call.result(task('TASK_STATE_CANCELED'))
  else call.event({ task: task('TASK_STATE_WORKING') })
}

/** The agent finishes what it was sent first. */
async function finish({ backend }: ForwardingPair, text: string): Promise<void> {
  const call = await backend.called('SendStreamingMessage')
  call.event(artifactUpdate(text, { lastChunk: true }))
  call.event(statusUpdate('TASK_STATE_COMPLETED'))
  call.response.end()
}

const get = async (client: Client, id: string) => wire(await client.getTask(GetTaskRequest.fromJSON({ id })))
const state = async (client: Client, id: string) => (await get(client, id)).status.state
const subscribe = (client: Client, id: string) => client.resubscribeTask(SubscribeToTaskRequest.fromJSON({ id }))

describe.each(bindings)('over %s', (binding) => {
  test('1: a client that lost its stream subscribes again while the task runs, and misses nothing', async () => {
    const pair = await forwardingPair(working)
    const client = await pair.client(binding)
    const drop = new AbortController()
    const stream = client.sendMessageStream(request('hello'), { signal: drop.signal })
    const { taskId } = await nextEvent(stream)
    drop.abort()
    await expect(seenAll(stream)).rejects.toThrow()
    const call = await pair.backend.called('SendStreamingMessage')
    call.event(statusUpdate('TASK_STATE_WORKING', 'said while nobody listened'))
    await expect
      .poll(async () => JSON.stringify(await get(client, taskId)), patient)
      .toContain('said while nobody listened')

    const again = subscribe(client, taskId)
    expect((await nextEvent(again)).json).toContain('said while nobody listened')
    await finish(pair, 'the reply')
    const events = await seenAll(again)
    expect(events.slice(-2)).toMatchObject([
      { what: 'artifact', text: 'the reply' },
      { what: 'status', state: 'TASK_STATE_COMPLETED' },
    ])
  })

  test('2: a task goes on and is kept when its client has gone', async () => {
    const pair = await forwardingPair(working)
    const gone = new AbortController()
    const blocking = (await pair.client(binding)).sendMessage(request('hello'), { signal: gone.signal })
    await pair.backend.called('SendStreamingMessage')
    gone.abort()
    await expect(blocking).rejects.toThrow()
    await finish(pair, 'for nobody')

    const another = await pair.client(binding)
    const { tasks } = await another.listTasks(ListTasksRequest.fromJSON({}))
    expect(tasks).toHaveLength(1)
    const id = tasks[0]?.id ?? ''
    await expect.poll(() => state(another, id), patient).toBe('TASK_STATE_COMPLETED')
    expect(artifactTexts(await get(another, id))).toEqual(['for nobody'])
  })

  test('3: a cancel reaches a running agent, and a late completion does not overwrite it', async () => {
    const pair = await forwardingPair(working)
    const client = await pair.client(binding)
    const { id } = wire(await client.sendMessage(immediately('hello')))
    const sent = await pair.backend.called('SendStreamingMessage')
    await expect.poll(() => state(client, id), patient).toBe('TASK_STATE_WORKING')
    const watching = seenAll(subscribe(client, id))
    await client.cancelTask(CancelTaskRequest.fromJSON({ id }))
    expect((await pair.backend.called('CancelTask')).params.id).toBe('backend-task')
    sent.event(artifactUpdate('too late', { lastChunk: true }))
    sent.event(statusUpdate('TASK_STATE_COMPLETED'))
    expect((await watching).at(-1)).toMatchObject({ what: 'status', state: 'TASK_STATE_CANCELED' })
    const provider = await pair.provider.client.tasks.list({ limit: 10 })
    await pair.provider.task(provider.tasks[0]?.id ?? '', (seen) => seen.state === 'TASK_STATE_CANCELED')
    expect(await get(client, id)).toMatchObject({ id, status: { state: 'TASK_STATE_CANCELED' } })
  })

  test('5: an image of 8 MiB in base64 arrives whole', async () => {
    const pair = await forwardingPair(working)
    const bytes = randomBytes(8 * 1024 * 1024)
    const raw = bytes.toString('base64')
    const image = { raw, filename: 'photo.png', mediaType: 'image/png' }
    const parts = [{ text: 'What is on it?' }, image]
    const client = await pair.client(binding)
    const { id } = wire(await client.sendMessage(immediately('', { parts })))
    // files wait for the operator of the provider: only text is forwarded
    const arrived = async () => (await pair.provider.client.inbox.list({ limit: 10 })).items
    await expect.poll(async () => (await arrived()).map((item) => item.task.id), patient).toEqual([id])
    const received = JSON.stringify(await pair.provider.client.tasks.get({ id }))
    expect(received).toContain('photo.png')
    expect(received).toContain(createHash('sha256').update(bytes).digest('hex'))
  })

  test('6: returnImmediately returns although nothing ever comes back', async () => {
    const pair = await forwardingPair(() => undefined)
    await pair.provider.stop()
    const { id, status } = wire(await (await pair.client(binding)).sendMessage(immediately('hello')))
    expect(status.state).toBe('TASK_STATE_SUBMITTED')
    expect(pair.backend.calls).toEqual([])
    const { tasks } = await pair.operator.client.tasks.list({ limit: 10 })
    expect(tasks.map((listed) => listed.id)).toEqual([id])
  })

  test('7: card and client name no host but the endpoint', async () => {
    const asked: string[] = []
    const pair = await forwardingPair((call) => {
      call.event({ task: task('TASK_STATE_WORKING') })
      call.event(statusUpdate('TASK_STATE_COMPLETED'))
      call.response.end()
    })
    // the agent's own card names agent.example
    const client = await pair.client(binding, (input, init) => {
      asked.push(new URL(input instanceof Request ? input.url : input).origin)
      return fetch(input, init)
    })
    await client.sendMessage(request('hello'))
    expect(new Set(asked)).toEqual(new Set([new URL(pair.url).origin]))
    const card = JSON.stringify(await (await fetch(pair.url, { headers: bearer(pair) })).json())
    expect(card).not.toContain('agent.example')
  })

  test('9: comment lines keep an idle stream alive, and the client does not see them', async () => {
    const desk = await endpointDesk({ limits: { heartbeat: 5 } })
    const id = desk.tasks.open()
    let comments = 0
    const counting: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      const count = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          comments += new TextDecoder().decode(chunk).match(/^:/gm)?.length ?? 0
          controller.enqueue(chunk)
        },
      })
      return new Response(response.body?.pipeThrough(count) ?? null, response)
    }
    const client = await sdkClient({ url: desk.url(), token: desk.token, binding, fetch: counting })
    const stream = subscribe(client, id)
    expect(await nextEvent(stream)).toMatchObject({ what: 'task' })
    const rest = seenAll(stream)
    await expect.poll(() => comments, patient).toBeGreaterThan(3)
    desk.tasks.status(id, 'TASK_STATE_COMPLETED')
    expect(await rest).toMatchObject([{ what: 'status', state: 'TASK_STATE_COMPLETED' }])
  })

  test.each([{}, { contextId: 'mine' }])('10: a send whose answer was lost is not sent twice (%o)', async (where) => {
    const pair = await forwardingPair(working)
    let lost = 0
    const losing: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      if (init?.method !== 'POST' || lost > 0) return response
      lost += 1
      await response.arrayBuffer()
      throw new TypeError('the connection was lost')
    }
    const client = await pair.client(binding, losing)
    const once = immediately('hello', { messageId: 'only-once', ...where })
    await expect(client.sendMessage(once)).rejects.toThrow('lost')
    const { id } = wire(await client.sendMessage(once))
    await finish(pair, 'the only reply')
    await expect.poll(() => state(client, id), patient).toBe('TASK_STATE_COMPLETED')
    expect(wire(await client.sendMessage(once)).id).toBe(id)
    expect(await client.listTasks(ListTasksRequest.fromJSON({}))).toMatchObject({ totalSize: 1 })
    expect(pair.backend.of('SendStreamingMessage')).toHaveLength(1)
  })
})

const json = { 'content-type': 'application/json' }
const bearer = ({ token }: ForwardingPair) => ({ authorization: `Bearer ${token}` })

test('4: GET and POST on :subscribe both open the stream; an id that ends so is not found', async () => {
  const pair = await forwardingPair(working)
  const { id } = wire(await (await pair.client('JSONRPC')).sendMessage(immediately('hello')))
  const at = `${pair.url}/rest/tasks/${id}:subscribe`
  const streams = await Promise.all(['GET', 'POST'].map((method) => fetch(at, { method, headers: bearer(pair) })))
  for (const stream of streams) expect(stream.headers.get('content-type')).toMatch(/^text\/event-stream/)
  await finish(pair, 'the reply')
  for (const text of await Promise.all(streams.map((stream) => stream.text()))) {
    expect(JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '')).toMatchObject({ task: { id } })
    expect(text).toContain('TASK_STATE_COMPLETED')
  }
  const nobody = await fetch(`${pair.url}/rest/tasks/nothing:subscribe`, { headers: bearer(pair) })
  expect(nobody.status).toBe(404)
  expect(await nobody.json()).toMatchObject({ error: { details: [{ reason: 'TASK_NOT_FOUND' }] } })
})

test('8: card URLs are those of the endpoint, whatever name it is called by, and every refusal is JSON', async () => {
  const pair = await forwardingPair(working)
  const cards = await Promise.all(
    [
      pair.url,
      `${pair.url}/`,
      `${pair.url}/.well-known/agent-card.json`,
      pair.url.replace('127.0.0.1', 'localhost'),
    ].map(async (at) => (await fetch(at, { headers: bearer(pair) })).json()),
  )
  for (const card of cards) {
    expect(card).toMatchObject({ supportedInterfaces: [{ url: `${pair.url}/jsonrpc` }, { url: `${pair.url}/rest` }] })
  }
  const post = (more: RequestInit = {}) => ({ method: 'POST', headers: bearer(pair), body: '{}', ...more })
  const refused: [string, RequestInit, number][] = [
    [`${pair.url}/jsonrpc`, { method: 'POST', body: '{}' }, 401],
    [`${pair.url}/nothing/there`, { headers: bearer(pair) }, 404],
    [`${new URL(pair.url).origin}/`, { headers: bearer(pair) }, 404],
    [`${pair.url}/rest/message:send`, { headers: bearer(pair) }, 405],
    [`${pair.url}/rest/message:send`, post({ headers: { ...bearer(pair), 'content-type': 'text/html' } }), 400],
    [`${pair.url}/rest/message:send`, post({ headers: { ...bearer(pair), origin: 'https://site.example' } }), 403],
    [
      `${pair.url}/rest/message:send`,
      post({ headers: { ...bearer(pair), ...json }, body: Buffer.alloc(96 * 1024 * 1024 + 1) }),
      413,
    ],
  ]
  const shape = z.object({ error: z.object({ code: z.number(), status: z.string(), message: z.string() }) })
  for (const [at, init, status] of refused) {
    // oxlint-disable-next-line no-await-in-loop
    const response = await fetch(at, init)
    expect([at, response.status]).toEqual([at, status])
    expect(response.headers.get('content-type')).toMatch(/json/)
    // oxlint-disable-next-line no-await-in-loop
    const body = await response.text()
    expect(shape.parse(JSON.parse(body)).error.code).toBe(status)
    expect(body).not.toMatch(/ at .*\.js:\d+/)
  }
  // a JSON-RPC client gets its id back with every error of its call
  const call = { jsonrpc: '2.0', id: 'mine-7', method: 'GetTask', params: { id: 'nothing' } }
  const headers = { ...bearer(pair), ...json }
  const answer = await fetch(`${pair.url}/jsonrpc`, { method: 'POST', headers, body: JSON.stringify(call) })
  expect(answer.status).toBe(200)
  expect(await answer.json()).toMatchObject({ jsonrpc: '2.0', id: 'mine-7', error: { code: -32001 } })
})
