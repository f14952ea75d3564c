import { describe, expect, test } from 'vitest'
import { AnetError } from '@shared/errors.ts'
import { hello, rest } from '../../helpers/endpoint-calls.ts'
import { endpointDesk, own } from '../../helpers/endpoint-desk.ts'
import { RawConnection } from '../../helpers/raw-http.ts'

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
