import { describe, expect, test } from 'vitest'
import { agent, type EndpointDesk, endpointDesk } from '../../helpers/endpoint-desk.ts'
import { RawConnection } from '../../helpers/raw-http.ts'

const MiB = 1024 * 1024
const rpcPath = `/a2a/v1/agents/${agent}/jsonrpc`

function head(desk: EndpointDesk, ...headers: readonly string[]): readonly string[] {
  return [
    `POST ${rpcPath} HTTP/1.1`,
    `Host: 127.0.0.1:${desk.port}`,
    `Authorization: Bearer ${desk.token}`,
    'Content-Type: application/json',
    ...headers,
    '',
    '',
  ]
}

describe('size', () => {
  test('a body over 96 MiB is 413 by its Content-Length, before any of it is read', async () => {
    const desk = await endpointDesk()
    const raw = await RawConnection.open(desk.port)
    raw.write(...head(desk, `Content-Length: ${96 * MiB + 1}`))
    const answer = await raw.answer()
    expect(answer.status).toBe(413)
    expect(answer.headers.get('connection')).toBe('close')
    expect(JSON.parse(answer.body).error).toMatchObject({ code: 413, status: 'RESOURCE_EXHAUSTED' })
    expect(await raw.closed()).toBe(true)
  })

  test('a chunked body is 413 as soon as the count says so, and a client that goes on writing can read it', async () => {
    const desk = await endpointDesk({ limits: { bodyBytes: 2 * MiB } })
    const raw = await RawConnection.open(desk.port)
    raw.write(...head(desk, 'Transfer-Encoding: chunked'))
    const chunk = Buffer.alloc(MiB, 0x20)
    for (let count = 0; count < 16; count += 1) {
      raw.socket.write(`${chunk.byteLength.toString(16)}\r\n`)
      raw.socket.write(chunk)
      raw.socket.write('\r\n')
    }
    expect((await raw.answer()).status).toBe(413)
    expect(await raw.closed()).toBe(true)
  })

  test('fetch, which sends all of its body first, gets the answer too', async () => {
    const desk = await endpointDesk({ limits: { bodyBytes: 2 * MiB } })
    const answer = await fetch(`${desk.url()}/jsonrpc`, {
      method: 'POST',
      headers: { ...desk.headers, 'content-type': 'application/json' },
      body: 'x'.repeat(12 * MiB),
    })
    expect(answer.status).toBe(413)
  })

  test('a body of exactly the limit is read', async () => {
    const desk = await endpointDesk({ limits: { bodyBytes: 4096 } })
    const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks' })
    const send = (length: number) =>
      fetch(`${desk.url()}/jsonrpc`, {
        method: 'POST',
        headers: { ...desk.headers, 'content-type': 'application/json' },
        body: call.padEnd(length),
      })
    expect((await send(4096)).status).toBe(200)
    expect((await send(4097)).status).toBe(413)
  })
})

describe('what a body would be when it is parsed', () => {
  const call = (unknown: string): string => `{"jsonrpc":"2.0","id":1,"method":"ListTasks","unknown":${unknown}}`
  test.each([
    ['a million values', call(`[${'{},'.repeat(1_000_001)}1]`)],
    ['a list in a list, ten thousand times', call(`${'['.repeat(10_001)}${']'.repeat(10_001)}`)],
    ['brackets without end', '['.repeat(4 * MiB)],
  ])('%s are too much', async (_name, body) => {
    const desk = await endpointDesk()
    for (const path of ['jsonrpc', 'rest/message:send']) {
      const answer = await fetch(`${desk.url()}/${path}`, {
        method: 'POST',
        headers: { ...desk.headers, 'content-type': 'application/json' },
        body,
      })
      expect(answer.status).toBe(413)
      expect((await answer.json()).error).toMatchObject({ code: 413, status: 'RESOURCE_EXHAUSTED' })
    }
  })

  test('a text of many commas and brackets is one value', async () => {
    const desk = await endpointDesk()
    const answer = await fetch(`${desk.url()}/jsonrpc`, {
      method: 'POST',
      headers: { ...desk.headers, 'content-type': 'application/json' },
      body: call(`"${String.raw`[,\",`.repeat(1_000_000)}"`),
    })
    expect((await answer.json()).result).toMatchObject({ tasks: [] })
  })
})

describe('pace', () => {
  test('a body that stops is 408', async () => {
    const desk = await endpointDesk({ limits: { bodyStall: 100 } })
    const raw = await RawConnection.open(desk.port)
    raw.write(...head(desk, 'Content-Length: 100'), '{"jsonrpc"')
    expect((await raw.answer()).status).toBe(408)
    expect(await raw.closed()).toBe(true)
  })

  test('a slow body that goes on is read to its end', async () => {
    const desk = await endpointDesk({ limits: { bodyStall: 2000 } })
    const raw = await RawConnection.open(desk.port)
    const call = JSON.stringify({ jsonrpc: '2.0', id: 'slow', method: 'ListTasks' })
    raw.write(...head(desk, `Content-Length: ${call.length}`))
    for (const byte of call) {
      await new Promise<void>((resolve) => raw.socket.write(byte, () => resolve()))
    }
    expect(JSON.parse((await raw.answer()).body)).toMatchObject({ id: 'slow', result: { tasks: [] } })
  })

  test('a client that leaves in the middle of its body leaves nothing behind', async () => {
    const desk = await endpointDesk()
    const raw = await RawConnection.open(desk.port)
    raw.write(...head(desk, 'Content-Length: 100'), '{')
    await expect.poll(() => desk.module.counts().requests).toBe(1)
    raw.destroy()
    await expect.poll(() => desk.module.counts().requests).toBe(0)
  })
})

describe('Expect: 100-continue', () => {
  test('all checks come first; then the client is told to go on', async () => {
    const desk = await endpointDesk()
    const call = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'ListTasks' })
    const raw = await RawConnection.open(desk.port)
    raw.write(...head(desk, 'Expect: 100-continue', `Content-Length: ${call.length}`))
    expect((await raw.answer()).status).toBe(100)
    raw.write(call)
    expect(JSON.parse((await raw.answer()).body).id).toBe(7)
  })

  const refused: readonly (readonly [string, number, (desk: EndpointDesk) => readonly string[]])[] = [
    ['a foreign Host', 421, (desk) => head(desk, 'Content-Length: 5').with(1, 'Host: evil.example')],
    ['no token', 401, (desk) => head(desk, 'Content-Length: 5').with(2, 'X-None: 1')],
    [
      'an unknown agent path',
      404,
      (desk) => head(desk, 'Content-Length: 5').with(0, 'POST /a2a/v1/agents/A/jsonrpc HTTP/1.1'),
    ],
    ['a large body', 413, (desk) => head(desk, `Content-Length: ${97 * MiB}`)],
  ]
  test.each(refused)('%s is refused with %i instead', async (_name, status, lines) => {
    const desk = await endpointDesk()
    const raw = await RawConnection.open(desk.port)
    const request = lines(desk)
    raw.write(...request.toSpliced(-2, 0, 'Expect: 100-continue'))
    expect((await raw.answer()).status).toBe(status)
    expect(await raw.closed()).toBe(true)
  })
})

describe('limits', () => {
  test('one request too many is 503 with Retry-After; places come free again', async () => {
    const desk = await endpointDesk({ limits: { requests: 2 } })
    const waiting = await Promise.all([RawConnection.open(desk.port), RawConnection.open(desk.port)])
    for (const raw of waiting) raw.write(...head(desk, 'Content-Length: 100'), '{')
    await expect.poll(() => desk.module.counts().requests).toBe(2)
    const refused = await fetch(`http://127.0.0.1:${desk.port}/a2a/v1/agents`, { headers: desk.headers })
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('1')
    waiting[0]?.destroy()
    await expect.poll(() => desk.module.counts().requests).toBe(1)
    expect((await fetch(`http://127.0.0.1:${desk.port}/a2a/v1/agents`, { headers: desk.headers })).status).toBe(200)
    waiting[1]?.destroy()
  })

  test('clients without a token take no places', async () => {
    const desk = await endpointDesk({ limits: { requests: 1 } })
    const strangers = await Promise.all(Array.from({ length: 8 }, () => RawConnection.open(desk.port)))
    for (const raw of strangers) raw.write(...head(desk, 'Content-Length: 100').with(2, 'X-None: 1'))
    for (const raw of strangers) expect((await raw.answer()).status).toBe(401)
    expect((await fetch(`http://127.0.0.1:${desk.port}/a2a/v1/agents`, { headers: desk.headers })).status).toBe(200)
    for (const raw of strangers) raw.destroy()
  })
})
