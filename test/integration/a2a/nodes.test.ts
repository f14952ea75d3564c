import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { type AgentCard, Message, Part, type Task } from '@a2a-js/sdk'
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  createAuthenticatingFetchWithRetry,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'
import { TaskNotFoundError, TaskNotCancelableError, UnsupportedOperationError } from '@a2a-js/sdk/errors'
import { extensionUris } from '@shared/a2a/index.ts'
import { decodeSigned, limits, networkCardSchema, readStatement } from '@shared/wire/index.ts'
import { known, startTestHub, startTestNode, type TestNode } from '../../helpers/nodes.ts'

interface Pair {
  readonly operator: TestNode
  readonly provider: TestNode
  readonly url: string
  readonly headers: { authorization: string }
}

/** A node whose endpoint is used, and one that answers from its inbox. */
async function pair(): Promise<Pair> {
  const hub = await startTestHub()
  const operator = await startTestNode({ name: 'Operator', hub })
  const provider = await startTestNode({ name: 'Provider', hub, trust: [operator.aid] })
  await known(operator, provider)
  const { agentsUrl, tokenFile } = await operator.client.endpoint.status({})
  const token = (await readFile(tokenFile ?? '', 'utf8')).trim()
  return { operator, provider, url: `${agentsUrl}/${provider.aid}`, headers: { authorization: `Bearer ${token}` } }
}

async function sdkClient({ url, headers }: Pair, transport: 'JSONRPC' | 'HTTP+JSON'): Promise<Client> {
  const fetchImpl = createAuthenticatingFetchWithRetry(fetch, {
    headers: async () => ({ Authorization: headers.authorization }),
    shouldRetryWithHeaders: async () => undefined,
  })
  const factory = new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
      preferredTransports: [transport],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
    }),
  )
  return factory.createFromUrl(`${url}/`)
}

let messages = 0
const textMessage = (text: string, more: object = {}): Message => {
  messages += 1
  return Message.fromJSON({ role: 'ROLE_USER', messageId: `m-${messages}`, parts: [{ text }], ...more })
}
const request = (message: Message, returnImmediately = true) => ({
  tenant: '',
  message,
  configuration: { acceptedOutputModes: [], returnImmediately, taskPushNotificationConfig: undefined },
  metadata: undefined,
})

/** The open inbox item of a task at the provider, as soon as it is there. */
async function inboxItem(provider: TestNode, task: string): Promise<number> {
  for (;;) {
    const arrived = provider.event((event) => (event.type === 'inbox' ? true : undefined))
    const { items } = await provider.client.inbox.list({ limit: 200 })
    const item = items.find((entry) => entry.task.id === task && entry.state === 'waiting')
    if (item !== undefined) return item.id
    await arrived
  }
}

function taskOf(result: Task | Message): Task {
  if (!('status' in result)) throw new Error('The answer is no task.')
  return result
}

describe.each(['JSONRPC', 'HTTP+JSON'] as const)('the SDK client over %s', (transport) => {
  test('discovers, sends, waits, streams, answers a question, lists, cancels and re-subscribes', async () => {
    const setting = await pair()
    const { operator, provider } = setting
    const client = await sdkClient(setting, transport)
    const card: AgentCard = await client.getAgentCard()
    expect(card.name).toBe('Provider')

    // a blocking send
    const blocking = client.sendMessage(request(textMessage('one'), false))
    const [opened] = await waitForTasks(operator, 1)
    await provider.client.inbox.answer({
      id: await inboxItem(provider, opened ?? ''),
      kind: 'complete',
      text: 'first answer',
    })
    const first = taskOf(await blocking)
    expect(first.artifacts.map(({ parts }) => parts.map((part) => Part.toJSON(part)))).toEqual([
      [expect.objectContaining({ text: 'first answer' })],
    ])

    // a stream, a question, and its answer
    const stream = client.sendMessageStream(request(textMessage('two')))
    const begun = await stream.next()
    const task = begun.value?.payload?.$case === 'task' ? begun.value.payload.value : undefined
    if (task === undefined) throw new Error('The stream does not begin with a task.')
    await provider.client.inbox.answer({ id: await inboxItem(provider, task.id), kind: 'ask', text: 'Which one?' })
    const asked: string[] = []
    for await (const event of stream) asked.push(event.payload?.$case ?? '')
    expect(asked.at(-1)).toBe('statusUpdate')
    const answering = client.sendMessageStream(request(textMessage('the second', { taskId: task.id })))
    const again = await answering.next()
    expect(again.value?.payload?.$case).toBe('task')
    await provider.client.inbox.answer({ id: await inboxItem(provider, task.id), kind: 'complete', text: 'done' })
    const cases: string[] = []
    for await (const event of answering) cases.push(event.payload?.$case ?? '')
    expect(cases.slice(-2)).toEqual(['artifactUpdate', 'statusUpdate'])

    // cancel, list, errors
    const third = taskOf(await client.sendMessage(request(textMessage('three'))))
    const resubscribed = client.resubscribeTask({ tenant: '', id: third.id })
    expect((await resubscribed.next()).value?.payload?.$case).toBe('task')
    await inboxItem(provider, third.id)
    expect((await client.cancelTask({ tenant: '', id: third.id, metadata: undefined })).id).toBe(third.id)
    let last = ''
    for await (const event of resubscribed) last = event.payload?.$case ?? ''
    expect(last).toBe('statusUpdate')
    const listed = await client.listTasks({
      tenant: '',
      contextId: '',
      status: 0,
      pageSize: 2,
      pageToken: '',
      historyLength: undefined,
      statusTimestampAfter: undefined,
      includeArtifacts: false,
    })
    expect(listed.tasks).toHaveLength(2)
    expect(listed.totalSize).toBe(3)
    expect(listed.tasks[0]?.id).toBe(third.id)
    await expect(client.getTask({ tenant: '', id: 'nothing', historyLength: undefined })).rejects.toThrow(
      TaskNotFoundError,
    )
    await expect(client.cancelTask({ tenant: '', id: first.id, metadata: undefined })).rejects.toThrow(
      TaskNotCancelableError,
    )
    await expect(client.sendMessage(request(textMessage('late', { taskId: first.id })))).rejects.toThrow(
      UnsupportedOperationError,
    )
    await expect(client.resubscribeTask({ tenant: '', id: first.id }).next()).rejects.toThrow(UnsupportedOperationError)
  })
})

async function waitForTasks(node: TestNode, count: number): Promise<string[]> {
  for (;;) {
    const changed = node.event((event) => (event.type === 'task' ? true : undefined))
    const { tasks } = await node.client.tasks.list({ limit: 50 })
    if (tasks.length >= count) return tasks.map(({ id }) => id)
    await changed
  }
}

describe('the endpoint of a real node', () => {
  test('answers again after a restart: same address, same token, same task, and a copy of a message is not sent twice', async () => {
    const setting = await pair()
    const { operator, provider, url, headers } = setting
    const send = async (messageId: string, text: string) => {
      const answer = await fetch(`${url}/rest/message:send`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({
          message: { role: 'ROLE_USER', messageId, contextId: 'c-1', parts: [{ text }] },
          configuration: { returnImmediately: true },
        }),
      })
      return (await answer.json()).task
    }
    const copies = await Promise.all(Array.from({ length: 32 }, () => send('same', 'hello')))
    expect(new Set(copies.map(({ id }) => id)).size).toBe(1)
    await operator.restart()
    expect((await send('same', 'hello')).id).toBe(copies[0].id)
    await provider.client.inbox.answer({ id: await inboxItem(provider, copies[0].id), kind: 'complete', text: 'hi' })
    await operator.task(copies[0].id, ({ state }) => state === 'TASK_STATE_COMPLETED')
    const task = await (await fetch(`${url}/rest/tasks/${copies[0].id}`, { headers })).json()
    expect(task).toMatchObject({
      contextId: 'c-1',
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ text: 'hi' }] }],
    })
    const { total } = await operator.client.tasks.list({ limit: 10 })
    expect(total).toBe(1)
  })

  test('a stream that broke with the node is taken up again, and nothing is missing', async () => {
    const { operator, provider, url, headers } = await pair()
    const opened = await fetch(`${url}/rest/message:stream`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ message: { role: 'ROLE_USER', messageId: 'm', parts: [{ text: 'hello' }] } }),
    })
    const reader = opened.body?.pipeThrough(new TextDecoderStream()).getReader()
    const first = JSON.parse(((await reader?.read())?.value ?? '').replace(/^data: /, '').trim())
    const { id } = first.task
    const item = await inboxItem(provider, id)
    await provider.client.inbox.answer({ id: item, kind: 'reply', text: 'first part' })
    await operator.restart()
    await operator.task(id, ({ state }) => state === 'TASK_STATE_WORKING')
    const again = await fetch(`${url}/rest/tasks/${id}:subscribe`, { headers })
    const text = again.text()
    const { items } = await provider.client.inbox.list({ state: 'all', limit: 10 })
    await provider.client.inbox.answer({ id: items[0]?.id ?? 0, kind: 'complete', text: 'second part' })
    const events = (await text).split('\n\n').filter((block) => block.startsWith('data: '))
    expect(events[0]).toContain('first part')
    expect(events.join()).toContain('second part')
    expect(events.at(-1)).toContain('TASK_STATE_COMPLETED')
  })

  test('the proxy card holds the very card that the agent signed, which its reader can verify', async () => {
    const { operator, provider, url, headers } = await pair()
    const { signatures, ...content } = await (await fetch(url, { headers })).json()
    const header = JSON.parse(Buffer.from(signatures[0].protected, 'base64url').toString())
    expect(header).toEqual({ alg: 'EdDSA', typ: 'JOSE', kid: `${operator.aid}#0` })
    const { params } = content.capabilities.extensions.find(({ uri }: { uri: string }) => uri === extensionUris.origin)
    expect(params).toMatchObject({ aid: provider.aid, originVerification: 'VERIFIED' })
    const signed = decodeSigned(Buffer.from(params.originCard, 'base64url'), 'card', limits.card.bytes)
    const card = readStatement(signed, networkCardSchema, limits.card.bytes)
    expect(card.aid).toBe(provider.aid)
    expect(JSON.parse(new TextDecoder().decode(card.card)).name).toBe('Provider')
  })

  test('what a peer opened at this node is not a task of its endpoint', async () => {
    const hub = await startTestHub()
    const operator = await startTestNode({ name: 'Operator', hub, policy: 'open' })
    const peer = await startTestNode({ name: 'Peer', hub })
    await Promise.all([known(peer, operator), known(operator, peer)])
    const { task } = await peer.client.tasks.send({ agent: operator.aid, text: 'hello' })
    await inboxItem(operator, task.id)
    const { agentsUrl, tokenFile } = await operator.client.endpoint.status({})
    const headers = { authorization: `Bearer ${(await readFile(tokenFile ?? '', 'utf8')).trim()}` }
    const get = (path: string) => fetch(`${agentsUrl}/${peer.aid}/rest/${path}`, { headers })
    expect(await (await get('tasks')).json()).toMatchObject({ tasks: [], totalSize: 0 })
    expect((await get(`tasks/${task.id}`)).status).toBe(404)
    expect((await get(`tasks/${task.id}:subscribe`)).status).toBe(404)
  })

  test('an agent that nobody knows has a placeholder, and a send to it fails with the reason', async () => {
    const { url, headers, provider } = await pair()
    const stranger = url.replace(
      provider.aid,
      provider.aid.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')),
    )
    const card = await (await fetch(stranger, { headers })).json()
    expect(card.name).toMatch(/^agent bafyrei/)
    const sent = await fetch(`${stranger}/rest/message:send`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ message: { role: 'ROLE_USER', messageId: 'm', parts: [{ text: 'x' }] } }),
    })
    expect(sent.status).toBe(503)
    expect((await sent.json()).error.details[0].metadata['anet.reason']).toBe('unknown_agent')
  })

  test('a node without a hub refuses a send with the sentence of its join state', async () => {
    const node = await startTestNode({ name: 'Alone' })
    const { agentsUrl, tokenFile } = await node.client.endpoint.status({})
    const sent = await fetch(`${agentsUrl}/${'b'.repeat(59)}/jsonrpc`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${(await readFile(tokenFile ?? '', 'utf8')).trim()}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'SendMessage',
        params: { message: { role: 'ROLE_USER', messageId: 'm', parts: [{ text: 'x' }] } },
      }),
    })
    const { join } = await node.client.node.status({})
    expect((await sent.json()).error).toMatchObject({
      code: -32603,
      message: join.sentence,
      data: [{ metadata: { 'anet.reason': 'not_registered' } }],
    })
    expect((await node.client.tasks.list({ limit: 1 })).total).toBe(0)
  })
})
