import { describe, expect, test } from 'vitest'
import { at, expectBoth, hello, post, rest } from '../../helpers/endpoint-calls.ts'
import { endpointDesk } from '../../helpers/endpoint-desk.ts'

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
