import { describe, expect, test } from 'vitest'
import { a2aErrorTable, type A2aErrorName } from '@shared/a2a/index.ts'
import { AnetError } from '@shared/errors.ts'
import { type EndpointDesk, endpointDesk, otherAgent, own } from '../../helpers/endpoint-desk.ts'
import { RawConnection } from '../../helpers/raw-http.ts'

const hello = { message: { role: 'ROLE_USER', messageId: 'm-1', parts: [{ text: 'hello' }] } }
const at = { returnImmediately: true }

async function post(desk: EndpointDesk, body: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${desk.url()}/jsonrpc`, {
    method: 'POST',
    headers: { ...desk.headers, 'content-type': 'application/json', ...headers },
    body,
  })
}

function rest(
  desk: EndpointDesk,
  path: string,
  init: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Response> {
  return fetch(`${desk.url()}/rest/${path}`, {
    method: init.method ?? (init.body === undefined ? 'GET' : 'POST'),
    headers: {
      ...desk.headers,
      ...(init.body === undefined ? {} : { 'content-type': 'application/a2a+json' }),
      ...init.headers,
    },
    ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
  })
}

interface RpcError {
  readonly code: number
  readonly message: string
  readonly data: readonly Record<string, unknown>[]
}

async function rpcError(answer: Response): Promise<RpcError & { id: unknown }> {
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/json')
  const body = await answer.json()
  expect(body).not.toHaveProperty('result')
  expect(body.jsonrpc).toBe('2.0')
  return { ...body.error, id: body.id }
}

/** The same failure on both bindings: its JSON-RPC code, and the HTTP status and body of A2A 1.0, section 11.6. */
async function expectBoth(name: A2aErrorName, viaRpc: Response, viaRest: Response): Promise<void> {
  const row = a2aErrorTable[name]
  const error = await rpcError(viaRpc)
  expect(error.code).toBe(row.code)
  expect(error.data[0]).toMatchObject({ reason: row.reason, domain: 'a2a-protocol.org' })
  expect(viaRest.status).toBe(row.http)
  expect(viaRest.headers.get('content-type')).toBe('application/a2a+json')
  const body = await viaRest.json()
  expect(body.error).toMatchObject({ code: row.http, status: row.status, message: error.message })
  expect(body.error.details[0]).toEqual(error.data[0])
}

describe('JSON-RPC envelope', () => {
  test.each([
    ['"text"', '"text"'],
    ['""', '""'],
    ['0', '0'],
    ['-7', '-7'],
    ['1.5', '1.5'],
    ['12345678901234567890', '12345678901234567890'],
    ['null', 'null'],
    ['"\\u00e9\\n"', '"é\\n"'],
  ])('the id %s is echoed', async (id, echoed) => {
    const desk = await endpointDesk()
    const answer = await post(desk, `{"id":${id},"method":"ListTasks","jsonrpc":"2.0","params":{"id":9}}`)
    expect(await answer.text()).toMatch(
      new RegExp(`^\\{"jsonrpc":"2.0","id":${echoed.replaceAll(/[\\.]/g, String.raw`\$&`)},"result":`),
    )
  })

  test.each([
    ['not JSON', '{"jsonrpc":', -32700],
    ['nothing', '', -32700],
    ['a trailing comma', '{"jsonrpc":"2.0","id":1,"method":"ListTasks",}', -32700],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ListTasks"}]', -32600],
    ['an empty batch', '[]', -32600],
    ['a text', '"hello"', -32600],
    ['null', 'null', -32600],
    ['no jsonrpc', '{"id":1,"method":"ListTasks"}', -32600],
    ['jsonrpc 1.0', '{"jsonrpc":"1.0","id":1,"method":"ListTasks"}', -32600],
    ['no method', '{"jsonrpc":"2.0","id":1}', -32600],
    ['a method that is no text', '{"jsonrpc":"2.0","id":1,"method":5}', -32600],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"ListTasks"}', -32600],
    ['an id that is a boolean', '{"jsonrpc":"2.0","id":true,"method":"ListTasks"}', -32600],
    ['an unknown method', '{"jsonrpc":"2.0","id":1,"method":"tasks/get"}', -32601],
    ['a method of the prototype', '{"jsonrpc":"2.0","id":1,"method":"toString"}', -32601],
    ['params that are an array', '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":["x"]}', -32602],
    ['params that are a text', '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":"x"}', -32602],
    ['params that are missing', '{"jsonrpc":"2.0","id":1,"method":"GetTask"}', -32602],
  ])('%s is answered as an error object with HTTP 200', async (_name, body, code) => {
    const desk = await endpointDesk()
    const error = await rpcError(await post(desk, body))
    expect(error.code).toBe(code)
    expect(error.id).toBe(body.includes('"id":1') && !body.startsWith('[') && code !== -32700 ? 1 : null)
    expect(JSON.stringify(error)).not.toMatch(/at .*\.ts|node_modules/)
  })

  test('bytes that are no UTF-8 are a parse error', async () => {
    const desk = await endpointDesk()
    const body = Buffer.concat([
      Buffer.from('{"jsonrpc":"2.0","id":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('","method":"ListTasks"}'),
    ])
    const answer = await fetch(`${desk.url()}/jsonrpc`, {
      method: 'POST',
      headers: { ...desk.headers, 'content-type': 'application/json' },
      body,
    })
    expect((await rpcError(answer)).code).toBe(-32700)
  })

  test('a notification gets 204 and takes effect; what is wrong with it stays unanswered', async () => {
    const desk = await endpointDesk()
    const sent = await post(desk, JSON.stringify({ jsonrpc: '2.0', method: 'SendMessage', params: hello }))
    expect(sent.status).toBe(204)
    expect(sent.headers.get('x-content-type-options')).toBe('nosniff')
    expect(desk.tasks.list({ limit: 1 }).total).toBe(1)
    expect((await post(desk, '{"jsonrpc":"2.0","method":"Nothing"}')).status).toBe(204)
    expect((await post(desk, '{"jsonrpc":"2.0","method":"GetTask","params":{}}')).status).toBe(204)
  })

  test('a streaming call without an id is an invalid request', async () => {
    const desk = await endpointDesk()
    const error = await rpcError(
      await post(desk, JSON.stringify({ jsonrpc: '2.0', method: 'SendStreamingMessage', params: hello })),
    )
    expect(error).toMatchObject({ code: -32600, id: null })
    expect(desk.tasks.list({ limit: 1 }).total).toBe(0)
  })

  test('other methods than POST are 405', async () => {
    const desk = await endpointDesk()
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS']) {
      const answer = await fetch(`${desk.url()}/jsonrpc`, { method, headers: desk.headers })
      expect(answer.status).toBe(405)
      expect(answer.headers.get('allow')).toBe('POST')
    }
    expect(
      (
        await fetch(`${desk.url()}/jsonrpc/`, {
          method: 'POST',
          headers: { ...desk.headers, 'content-type': 'application/json' },
          body: '[]',
        })
      ).status,
    ).toBe(200)
  })
})

describe('media type', () => {
  test.each([
    'application/json',
    'application/a2a+json',
    'Application/JSON; charset=utf-8',
    'application/a2a+json;charset="UTF-8"',
    'application/json; profile=x',
  ])('%s is accepted on both bindings', async (type) => {
    const desk = await endpointDesk()
    expect((await post(desk, '{"jsonrpc":"2.0","id":1,"method":"ListTasks"}', { 'content-type': type })).status).toBe(
      200,
    )
    const sent = await rest(desk, 'message:send', {
      body: { ...hello, configuration: at },
      headers: { 'content-type': type },
    })
    expect(sent.status).toBe(200)
    expect(sent.headers.get('content-type')).toBe('application/a2a+json')
  })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonx',
    'application/json; charset=latin1',
    'multipart/form-data; boundary=x',
    '',
  ])('"%s" is ContentTypeNotSupportedError, with the id null', async (type) => {
    const desk = await endpointDesk()
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: hello })
    const viaRpc = await post(desk, body, { 'content-type': type })
    const viaRest = await rest(desk, 'message:send', { body: hello, headers: { 'content-type': type } })
    expect((await viaRpc.clone().json()).id).toBeNull()
    await expectBoth('ContentTypeNotSupportedError', viaRpc, viaRest)
    expect(desk.tasks.list({ limit: 1 }).total).toBe(0)
  })

  test('a compressed body is not supported; a request without a body needs no type', async () => {
    const desk = await endpointDesk()
    const viaRest = await rest(desk, 'message:send', { body: hello, headers: { 'content-encoding': 'gzip' } })
    expect(viaRest.status).toBe(400)
    const id = desk.tasks.open()
    expect((await rest(desk, `tasks/${id}:cancel`, { method: 'POST' })).status).toBe(200)
  })
})

describe('version', () => {
  test.each(['1.0', '1', '1.0.1', '1.7', ' 1.0 '])('%s is served, in the header and in the query', async (version) => {
    const desk = await endpointDesk()
    expect((await rest(desk, 'tasks', { headers: { 'a2a-version': version } })).status).toBe(200)
    expect((await rest(desk, `tasks?A2A-Version=${encodeURIComponent(version)}`)).status).toBe(200)
  })

  test.each(['0.3', '2.0', 'v1', '1.0-beta', '10.0', '1.'])(
    '%s is VersionNotSupportedError, with the id',
    async (version) => {
      const desk = await endpointDesk()
      const viaRpc = await post(desk, '{"jsonrpc":"2.0","id":"v","method":"ListTasks"}', { 'a2a-version': version })
      expect((await viaRpc.clone().json()).id).toBe('v')
      await expectBoth('VersionNotSupportedError', viaRpc, await rest(desk, `tasks?A2A-Version=${version}`))
    },
  )

  test('absent is served; the pages beside the bindings do not look at it', async () => {
    const desk = await endpointDesk()
    expect((await rest(desk, 'tasks')).status).toBe(200)
    expect((await fetch(desk.url(), { headers: { ...desk.headers, 'a2a-version': '0.3' } })).status).toBe(200)
  })
})

describe('parameters', () => {
  const withPart = (part: unknown) => ({ message: { ...hello.message, parts: [part] } })
  test.each([
    ['no message', {}, 'message'],
    ['no parts', { message: { role: 'ROLE_USER', messageId: 'm' } }, 'message.parts'],
    ['empty parts', { message: { role: 'ROLE_USER', messageId: 'm', parts: [] } }, 'message.parts'],
    ['no role', { message: { messageId: 'm', parts: [{ text: 'x' }] } }, 'message.role'],
    ['an unknown role', { message: { ...hello.message, role: 'user' } }, 'message.role'],
    ['the role of an agent', { message: { ...hello.message, role: 'ROLE_AGENT' } }, 'message.role'],
    ['no messageId', { message: { role: 'ROLE_USER', parts: [{ text: 'x' }] } }, 'message.messageId'],
    ['a part with nothing', withPart({}), 'message.parts[0]'],
    ['a part with two contents', withPart({ text: 'x', data: 1 }), 'message.parts[0]'],
    ['a part of the old form', withPart({ kind: 'text' }), 'message.parts[0]'],
    ['a text that is a number', withPart({ text: 5 }), 'message.parts[0].text'],
    ['raw that is no base64', withPart({ raw: '***' }), 'message.parts[0].raw'],
    ['a negative historyLength', { ...hello, configuration: { historyLength: -1 } }, 'configuration.historyLength'],
    ['metadata that is a list', { ...hello, metadata: [] }, 'metadata'],
    [
      'data that nests too deep',
      withPart({ data: JSON.parse('['.repeat(200) + ']'.repeat(200)) }),
      'message.parts[0].data',
    ],
  ])('%s is told by its path', async (_name, params, field) => {
    const desk = await endpointDesk()
    const error = await rpcError(await desk.rpc('SendMessage', params))
    expect(error.code).toBe(-32602)
    expect(error.data).toContainEqual({
      '@type': 'type.googleapis.com/google.rpc.BadRequest',
      fieldViolations: expect.arrayContaining([expect.objectContaining({ field })]),
    })
    const viaRest = await rest(desk, 'message:send', { body: params })
    expect(viaRest.status).toBe(400)
    expect((await viaRest.json()).error).toMatchObject({ status: 'INVALID_ARGUMENT', details: error.data })
    expect(desk.tasks.list({ limit: 1 }).total).toBe(0)
  })

  test('snake_case names are understood, but not inside metadata and data; unknown fields are ignored', async () => {
    const desk = await endpointDesk()
    const answer = await desk.rpc('SendMessage', {
      message: {
        role: 'ROLE_USER',
        message_id: 'm-snake',
        context_id: 'c-snake',
        parts: [
          { data: { message_id: 1 }, media_type: 'application/json', surprise: true },
          { raw: '-_8', filename: 'a.bin' },
        ],
        metadata: { context_id: 'kept' },
        reference_task_ids: null,
        colour: 'blue',
      },
      configuration: { return_immediately: true, history_length: '5' },
      future: {},
    })
    const { task } = (await answer.json()).result
    expect(task.contextId).toBe('c-snake')
    expect(task.history).toEqual([
      expect.objectContaining({
        messageId: 'm-snake',
        parts: [
          { data: { message_id: 1 }, mediaType: 'application/json' },
          { raw: '+/8=', filename: 'a.bin' },
        ],
        metadata: { context_id: 'kept' },
      }),
    ])
    expect(task.history[0]).not.toHaveProperty('colour')
  })

  test('data null is a value', async () => {
    const desk = await endpointDesk()
    const answer = await desk.rpc('SendMessage', { ...withPart({ data: null }), configuration: at })
    expect((await answer.json()).result.task.history[0].parts).toEqual([{ data: null }])
  })
})

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

describe('operations', () => {
  test('a send waits until the task settles, unless told to return at once', async () => {
    const desk = await endpointDesk()
    const now = await desk.rpc('SendMessage', { ...hello, configuration: at })
    expect((await now.json()).result.task.status.state).toBe('TASK_STATE_SUBMITTED')
    const states = [
      'TASK_STATE_COMPLETED',
      'TASK_STATE_INPUT_REQUIRED',
      'TASK_STATE_AUTH_REQUIRED',
      'TASK_STATE_FAILED',
    ] as const
    for (const state of states) {
      const opened = new Promise<string>((resolve) => {
        desk.tasks.onOpened = resolve
      })
      const blocking = rest(desk, 'message:send', { body: { message: { ...hello.message, messageId: state } } })
      const id = await opened
      desk.tasks.status(id, 'TASK_STATE_WORKING')
      desk.tasks.artifact(id, { artifactId: 'a', parts: [{ text: 'answer' }] })
      desk.tasks.status(id, state)
      const { task } = await (await blocking).json()
      expect(task).toMatchObject({ id, status: { state }, artifacts: [{ parts: [{ text: 'answer' }] }] })
      expect(task.metadata['anet.state_seq']).toBe(4)
    }
  })

  test('a client that leaves a blocking send changes nothing and leaves nothing behind', async () => {
    const desk = await endpointDesk()
    const opened = new Promise<string>((resolve) => {
      desk.tasks.onOpened = resolve
    })
    const controller = new AbortController()
    const blocking = fetch(`${desk.url()}/rest/message:send`, {
      method: 'POST',
      headers: { ...desk.headers, 'content-type': 'application/json' },
      body: JSON.stringify(hello),
      signal: controller.signal,
    })
    const id = await opened
    await expect.poll(() => desk.tasks.subscriptions).toBe(1)
    controller.abort()
    await expect(blocking).rejects.toThrow()
    await expect.poll(() => desk.tasks.subscriptions).toBe(0)
    await expect.poll(() => desk.module.counts().requests).toBe(0)
    desk.tasks.status(id, 'TASK_STATE_COMPLETED')
    expect((await (await desk.rpc('GetTask', { id })).json()).result.status.state).toBe('TASK_STATE_COMPLETED')
  })

  test('historyLength: absent is everything, 0 omits the field, N is the newest N', async () => {
    const desk = await endpointDesk()
    const id = desk.tasks.open()
    for (const text of ['two', 'three']) {
      await desk.rpc('SendMessage', {
        message: { ...hello.message, messageId: text, taskId: id, parts: [{ text }] },
        configuration: at,
      })
    }
    const history = async (query: string) => (await (await rest(desk, `tasks/${id}${query}`)).json()).history
    expect(await history('')).toHaveLength(3)
    expect(await history('?historyLength=0')).toBeUndefined()
    expect((await history('?history_length=1')).map(({ messageId }: { messageId: string }) => messageId)).toEqual([
      'three',
    ])
    expect(await history('?historyLength=99')).toHaveLength(3)
    expect((await rest(desk, `tasks/${id}?historyLength=-1`)).status).toBe(400)
    expect((await rest(desk, `tasks/${id}?historyLength=x`)).status).toBe(400)
    expect((await (await desk.rpc('GetTask', { id, historyLength: 2 })).json()).result.history).toHaveLength(2)
  })

  test('a task that is read again after it changed is the new one', async () => {
    const desk = await endpointDesk()
    const id = desk.tasks.open()
    const state = async () => (await (await desk.rpc('GetTask', { id })).json()).result.status.state
    expect([await state(), await state()]).toEqual(['TASK_STATE_SUBMITTED', 'TASK_STATE_SUBMITTED'])
    desk.tasks.status(id, 'TASK_STATE_WORKING')
    expect(await state()).toBe('TASK_STATE_WORKING')
  })

  test('ListTasks: pages, totals, filters', async () => {
    const desk = await endpointDesk()
    const ids: string[] = []
    for (let count = 0; count < 5; count += 1) {
      desk.tasks.time += 1000
      ids.unshift(desk.tasks.open({ contextId: count % 2 === 0 ? 'even' : 'odd' }))
    }
    desk.tasks.artifact(ids[0] ?? '', { artifactId: 'a', parts: [{ raw: 'aGVsbG8=', filename: 'f' }] })
    desk.tasks.status(ids[0] ?? '', 'TASK_STATE_COMPLETED')
    const list = async (query: string) => (await rest(desk, `tasks${query}`)).json()
    const all = await list('')
    expect(all).toMatchObject({ pageSize: 50, totalSize: 5, nextPageToken: '' })
    expect(all.tasks.map(({ id }: { id: string }) => id)).toEqual(ids)
    expect(all.tasks[0]).not.toHaveProperty('artifacts')
    expect(all.tasks[0]).not.toHaveProperty('history')
    const first = await list('?pageSize=2')
    expect(first).toMatchObject({ pageSize: 2, totalSize: 5 })
    expect(first.nextPageToken).not.toBe('')
    const second = await list(`?page_size=2&page_token=${first.nextPageToken}`)
    const third = await list(`?pageSize=2&pageToken=${second.nextPageToken}`)
    expect([...first.tasks, ...second.tasks, ...third.tasks].map(({ id }) => id)).toEqual(ids)
    expect(third.nextPageToken).toBe('')
    expect((await list('?contextId=odd')).totalSize).toBe(2)
    expect((await list('?status=TASK_STATE_COMPLETED')).tasks.map(({ id }: { id: string }) => id)).toEqual([ids[0]])
    expect((await list('?status=TASK_STATE_UNSPECIFIED')).totalSize).toBe(5)
    expect((await list('?statusTimestampAfter=2026-01-01T00:00:04.000Z')).totalSize).toBe(2)
    expect((await list('?statusTimestampAfter=2026-01-01T00:00:04.0001Z')).totalSize).toBe(1)
    expect((await list('?statusTimestampAfter=2026-01-01T01:00:04.000%2B01:00')).totalSize).toBe(2)
    const whole = await list('?includeArtifacts=true&historyLength=1')
    expect(whole.tasks[0].artifacts[0].parts[0]).toEqual({ raw: 'aGVsbG8=', filename: 'f' })
    expect(whole.tasks[1]).toMatchObject({ artifacts: [], history: [{}] })
    for (const wrong of [
      'pageSize=0',
      'pageSize=101',
      'pageSize=x',
      'pageSize=-1',
      'status=DONE',
      'statusTimestampAfter=now',
      'pageToken=zzz',
      'includeArtifacts=maybe',
    ]) {
      expect((await rest(desk, `tasks?${wrong}`)).status, wrong).toBe(400)
    }
    expect((await rpcError(await desk.rpc('ListTasks', { pageSize: 101 }))).code).toBe(-32602)
  })

  test('cancel answers the task; repeating it has the same effect', async () => {
    const desk = await endpointDesk()
    const id = desk.tasks.open()
    expect((await (await desk.rpc('CancelTask', { id })).json()).result.id).toBe(id)
    expect((await rest(desk, `tasks/${id}:cancel`, { body: { metadata: { why: 'enough' } } })).status).toBe(200)
  })

  test('GetTask has the bytes of files that lie in sealed files; the client is not sent its own upload', async () => {
    const desk = await endpointDesk()
    const id = desk.tasks.open()
    const file = { name: 'sealed', key: 'k', size: 5, sha256: 'd' }
    desk.tasks.files.set('sealed', 'aGVsbG8=')
    desk.tasks.artifact(id, { artifactId: 'a', parts: [{ large: { field: 'raw', file }, filename: 'f.bin' }] })
    const task = (await (await desk.rpc('GetTask', { id })).json()).result
    expect(task.artifacts[0].parts).toEqual([{ raw: 'aGVsbG8=', filename: 'f.bin' }])
  })
})

describe('HTTP+JSON routes', () => {
  test.each([
    ['GET', 'message:send', 405, 'POST'],
    ['PUT', 'message:stream', 405, 'POST'],
    ['POST', 'tasks', 405, 'GET'],
    ['DELETE', 'tasks/x', 405, 'GET'],
    ['GET', 'tasks/x:cancel', 405, 'POST'],
    ['DELETE', 'tasks/x:subscribe', 405, 'GET, POST'],
    ['POST', 'extendedAgentCard', 405, 'GET'],
    ['PATCH', 'tasks/x/pushNotificationConfigs', 405, 'GET, POST'],
    ['GET', 'nothing', 404, null],
    ['GET', 'tenant/tasks', 404, null],
    ['GET', 'tasks/x/y', 404, null],
    ['GET', '%zz', 404, null],
  ])('%s %s is %i', async (method, path, status, allow) => {
    const desk = await endpointDesk()
    const answer = await rest(desk, path, { method })
    expect(answer.status).toBe(status)
    expect(answer.headers.get('allow')).toBe(allow)
    expect((await answer.json()).error.code).toBe(status)
  })

  test('a trailing slash and percent-encoded ids and verbs are understood', async () => {
    const desk = await endpointDesk()
    const id = desk.tasks.open()
    const encoded = Array.from(id, (letter) => `%${letter.charCodeAt(0).toString(16)}`).join('')
    for (const path of [`tasks/${id}/`, `tasks/${encoded}`, 'tasks/', 'tasks'])
      expect((await rest(desk, path)).status, path).toBe(200)
    for (const path of [`tasks/${id}:cancel/`, `tasks/${encoded}%3Acancel`]) {
      expect((await rest(desk, path, { method: 'POST' })).status, path).toBe(200)
    }
  })

  test('a body that is no JSON object is refused', async () => {
    const desk = await endpointDesk()
    for (const body of ['', 'x', '[]', 'null', '"x"']) {
      const answer = await fetch(`${desk.url()}/rest/message:send`, {
        method: 'POST',
        headers: { ...desk.headers, 'content-type': 'application/json' },
        body,
      })
      expect(answer.status, body).toBe(400)
      expect((await answer.json()).error.status).toBe('INVALID_ARGUMENT')
    }
  })
})

describe('agents', () => {
  test.each([own, 'UPPER', 'a_b', 'a'.repeat(129), '%2e%2e', 'a%2Fb'])('%s is no agent on any route', async (aid) => {
    const desk = await endpointDesk()
    const base = `http://127.0.0.1:${desk.port}/a2a/v1/agents/${aid}`
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/'],
      ['GET', '/.well-known/agent-card.json'],
      ['POST', '/jsonrpc'],
      ['GET', '/rest/tasks'],
      ['POST', ''],
    ] as const) {
      const raw = await RawConnection.open(desk.port)
      raw.write(
        `${method} ${base.slice(base.indexOf('/a2a'))}${path} HTTP/1.1`,
        `Host: localhost:${desk.port}`,
        `Authorization: Bearer ${desk.token}`,
        '',
        '',
      )
      const answer = await raw.answer()
      expect(answer.status, `${method} ${path}`).toBe(404)
      expect(JSON.parse(answer.body).error.message).toBe('no such agent')
      raw.destroy()
    }
  })

  test('an agent that nothing is known of: reads are empty, a send fails with the reason', async () => {
    const desk = await endpointDesk()
    desk.tasks.refusal = new AnetError('unknown_agent', 'The hub knows no such agent.')
    const url = `${desk.url('unknown')}/rest`
    expect(await (await fetch(`${url}/tasks`, { headers: desk.headers })).json()).toMatchObject({ tasks: [] })
    const sent = await fetch(`${url}/message:send`, {
      method: 'POST',
      headers: { ...desk.headers, 'content-type': 'application/json' },
      body: JSON.stringify(hello),
    })
    expect(sent.status).toBe(503)
    expect((await sent.json()).error).toMatchObject({
      message: 'The hub knows no such agent.',
      details: [{ metadata: { 'anet.reason': 'unknown_agent' } }],
    })
  })
})

test('activated extensions are echoed, from the new and the old header', async () => {
  const desk = await endpointDesk()
  const uri = 'https://anet.example/a2a/extensions/anet-preview/v1'
  for (const name of ['a2a-extensions', 'x-a2a-extensions']) {
    const answer = await rest(desk, 'tasks', { headers: { [name]: `https://other.example/x, ${uri}` } })
    expect(answer.headers.get('a2a-extensions')).toBe(uri)
  }
  expect(
    (await rest(desk, 'tasks', { headers: { 'a2a-extensions': `${uri}/more` } })).headers.get('a2a-extensions'),
  ).toBeNull()
  expect((await rest(desk, 'tasks')).headers.get('cache-control')).toBe('no-store')
})
