import { describe, expect, test } from 'vitest'
import { hello, post, rpcError } from '../../helpers/endpoint-calls.ts'
import { endpointDesk } from '../../helpers/endpoint-desk.ts'

describe('JSON-RPC envelope', () => {
  test.each([
    ['"text"', '"text"'],
    ['""', '""'],
    ['0', '0'],
    ['-7', '-7'],
    ['1.5', '1.5'],
    ['12345678901234567890', '12345678901234567890'],
    ['-0', '-0'],
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
    ['an id of too many digits', `{"jsonrpc":"2.0","id":${'1'.repeat(5000)},"method":"ListTasks"}`, -32600],
    ['an unknown method', '{"jsonrpc":"2.0","id":1,"method":"tasks/get"}', -32601],
    ['a method of the prototype', '{"jsonrpc":"2.0","id":1,"method":"toString"}', -32601],
    ['params that are an array', '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":["x"]}', -32602],
    ['params that are a text', '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":"x"}', -32602],
    ['params that are missing', '{"jsonrpc":"2.0","id":1,"method":"GetTask"}', -32602],
  ])('%s is answered as an error object with HTTP 200', async (_name, body, code) => {
    const desk = await endpointDesk()
    const error = await rpcError(await post(desk, body))
    expect(error.code).toBe(code)
    expect(error.id).toBe(/"id":1\b/.test(body) && !body.startsWith('[') && code !== -32700 ? 1 : null)
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
