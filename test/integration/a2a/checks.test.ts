import { chmod, rename, symlink, writeFile } from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { agent, type EndpointDesk, endpointDesk, own } from '../../helpers/endpoint-desk.ts'
import { type RawAnswer, RawConnection } from '../../helpers/raw-http.ts'

const listPath = '/a2a/v1/agents'

interface Asked {
  readonly line?: string
  readonly host?: readonly string[]
  readonly authorization?: readonly string[]
  readonly headers?: readonly string[]
  readonly body?: string
}

async function ask(
  desk: EndpointDesk,
  asked: Asked = {},
  on?: RawConnection,
): Promise<{ answer: RawAnswer; raw: RawConnection }> {
  const raw = on ?? (await RawConnection.open(desk.port))
  raw.write(
    asked.line ?? `GET ${listPath} HTTP/1.1`,
    ...(asked.host ?? [`Host: 127.0.0.1:${desk.port}`]),
    ...(asked.authorization ?? [`Authorization: Bearer ${desk.token}`]),
    ...(asked.headers ?? []),
    '',
    asked.body ?? '',
  )
  return { answer: await raw.answer(), raw }
}

function statusOf(answer: RawAnswer): { code: number; status: string; message: string } {
  return JSON.parse(answer.body).error
}

function expectProtected(answer: RawAnswer): void {
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
  expect(answer.headers.get('access-control-allow-origin')).toBeUndefined()
}

describe('Host', () => {
  const good = (port: number) => [`127.0.0.1:${port}`, `localhost:${port}`, `LocalHost:${port}`, `[::1]:${port}`]
  const bad = (port: number) => [
    '',
    '127.0.0.1',
    'localhost',
    `localhost.:${port}`,
    `127.0.0.1:${port + 1}`,
    `127.0.0.1:0${port}`,
    `rebound.example:${port}`,
    `127.0.0.2:${port}`,
    `[::1%25lo]:${port}`,
    `::1:${port}`,
    `127.0.0.1:${port}, evil`,
    `user@127.0.0.1:${port}`,
  ]

  test('a loopback name and the port are let in, in any case', async () => {
    const desk = await endpointDesk()
    for (const host of good(desk.port)) {
      const { answer, raw } = await ask(desk, { host: [`Host: ${host}`] })
      expect(answer.status, host).toBe(200)
      raw.destroy()
    }
  })

  test('anything else is 421, with a small JSON body, on a connection that stays usable', async () => {
    const desk = await endpointDesk()
    for (const host of bad(desk.port)) {
      const { answer, raw } = await ask(desk, { host: [`Host: ${host}`] })
      expect(answer.status, host).toBe(421)
      expect(answer.headers.get('content-type')).toBe('application/json')
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expectProtected(answer)
      expect(statusOf(answer)).toMatchObject({ code: 421, status: 'FAILED_PRECONDITION' })
      expect((await ask(desk, {}, raw)).answer.status).toBe(200)
      raw.destroy()
    }
  })

  test('a missing and a repeated Host are 421', async () => {
    const desk = await endpointDesk()
    const host = `Host: 127.0.0.1:${desk.port}`
    expect((await ask(desk, { host: [] })).answer.status).toBe(421)
    expect((await ask(desk, { host: [host, host] })).answer.status).toBe(421)
    expect((await ask(desk, { line: `GET ${listPath} HTTP/1.0`, host: [] })).answer.status).toBe(421)
  })

  test('the authority of an absolute target counts as the Host does', async () => {
    const desk = await endpointDesk()
    const line = (authority: string) => `GET http://${authority}${listPath} HTTP/1.1`
    expect((await ask(desk, { line: line(`localhost:${desk.port}`) })).answer.status).toBe(200)
    expect((await ask(desk, { line: line('evil.example') })).answer.status).toBe(421)
    expect((await ask(desk, { line: line(`127.0.0.1:${desk.port}@evil.example`) })).answer.status).toBe(421)
  })
})

describe('browsers', () => {
  test('any Origin and a cross-site fetch are 403, before the token is looked at', async () => {
    const desk = await endpointDesk()
    const own = `http://127.0.0.1:${desk.port}`
    for (const header of [
      'Origin: https://evil.example',
      'Origin: null',
      'Origin:',
      `Origin: ${own}`,
      'Sec-Fetch-Site: cross-site',
    ]) {
      const { answer, raw } = await ask(desk, { headers: [header], authorization: [] })
      expect(answer.status, header).toBe(403)
      expect(statusOf(answer).status).toBe('PERMISSION_DENIED')
      expectProtected(answer)
      raw.destroy()
    }
    expect((await ask(desk, { headers: ['Sec-Fetch-Site: none'] })).answer.status).toBe(200)
  })

  test('a preflight gets no CORS headers', async () => {
    const desk = await endpointDesk()
    const { answer } = await ask(desk, {
      line: `OPTIONS ${listPath} HTTP/1.1`,
      headers: ['Origin: https://evil.example', 'Access-Control-Request-Method: POST'],
    })
    expect(answer.status).toBe(403)
    const plain = await ask(desk, { line: `OPTIONS ${listPath} HTTP/1.1` })
    expect(plain.answer.status).toBe(405)
    expect(plain.answer.headers.get('allow')).toBe('GET, HEAD')
    expectProtected(plain.answer)
  })
})

describe('token', () => {
  test('only the current token lets in; the challenge names the realm', async () => {
    const desk = await endpointDesk()
    const good = `Authorization: Bearer ${desk.token}`
    const bad = [
      [],
      ['Authorization:'],
      [`Authorization: ${desk.token}`],
      [`Authorization: Basic ${desk.token}`],
      [`Authorization: Bearer ${desk.token.slice(0, -1)}`],
      [`Authorization: Bearer ${desk.token}0`],
      [`Authorization: Bearer ${randomBytes(32).toString('hex')}`],
      [good, good],
    ]
    for (const authorization of bad) {
      const { answer, raw } = await ask(desk, { authorization })
      expect(answer.status, authorization.join()).toBe(401)
      expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="anet-local-a2a"')
      expect(statusOf(answer).status).toBe('UNAUTHENTICATED')
      expectProtected(answer)
      raw.destroy()
    }
    expect((await ask(desk, { authorization: [`authorization: bearer ${desk.token}`] })).answer.status).toBe(200)
  })

  test('comes before the route: an unknown path, a wrong method and a body do not show themselves', async () => {
    const desk = await endpointDesk()
    for (const line of ['GET /nothing HTTP/1.1', 'DELETE / HTTP/1.1', `GET ${listPath}/${own} HTTP/1.1`]) {
      expect((await ask(desk, { line, authorization: [] })).answer.status, line).toBe(401)
    }
    const { answer, raw } = await ask(desk, {
      line: `POST ${listPath}/${agent}/jsonrpc HTTP/1.1`,
      authorization: [],
      headers: ['Content-Length: 5', 'Content-Type: text/plain'],
      body: 'hello',
    })
    expect(answer.status).toBe(401)
    expect(await raw.closed()).toBe(true)
  })

  test('a replaced token is refused from the next request on, on an open connection too', async () => {
    const desk = await endpointDesk()
    const { answer, raw } = await ask(desk)
    expect(answer.status).toBe(200)
    await desk.module.rotateToken()
    expect((await ask(desk, {}, raw)).answer.status).toBe(401)
  })

  test('a file that others may read, a link and a wrong content let nobody in, and doctor says so', async () => {
    const desk = await endpointDesk()
    const file = `${desk.dataDir}/modules/a2a/a2a_token.txt`
    const problem = () => desk.module.checks().find(({ name }) => name === 'a2a token')
    expect(problem()).toMatchObject({ outcome: 'ok' })
    await chmod(file, 0o644)
    expect((await ask(desk)).answer.status).toBe(401)
    expect(problem()).toMatchObject({ outcome: 'fail', seen: expect.stringContaining('644') })
    await chmod(file, 0o600)
    expect((await ask(desk)).answer.status).toBe(200)
    await rename(file, `${file}.moved`)
    expect((await ask(desk)).answer.status).toBe(401)
    await symlink(`${file}.moved`, file)
    expect((await ask(desk)).answer.status).toBe(401)
    await rename(`${file}.moved`, file)
    expect((await ask(desk)).answer.status).toBe(200)
    await writeFile(file, `${desk.token.toUpperCase()}z`)
    expect((await ask(desk)).answer.status).toBe(401)
  })
})

describe('what is no valid request', () => {
  const rpc = `POST ${listPath}/${agent}/jsonrpc HTTP/1.1`
  const broken: readonly (readonly [string, number, readonly string[]])[] = [
    ['both lengths', 400, ['Content-Length: 5', 'Transfer-Encoding: chunked', '', '0', '', '']],
    ['two lengths', 400, ['Content-Length: 5', 'Content-Length: 6', '', 'hello']],
    [
      'a bad chunk',
      400,
      ['Transfer-Encoding: chunked', 'Content-Type: application/json', '', 'zz', 'hello', '0', '', ''],
    ],
    ['an unknown coding', 400, ['Content-Type: application/json', 'Transfer-Encoding: gzip, identity', '', 'hello']],
    ['a header without a colon', 400, ['nonsense', '', '']],
    ['a space before the colon', 400, ['Content-Length : 5', '', 'hello']],
    ['a long header', 431, [`X-Long: ${'x'.repeat(20_000)}`, '', '']],
  ]
  test.each(broken)('%s: %i, and the connection is closed', async (_name, status, rest) => {
    const desk = await endpointDesk()
    const raw = await RawConnection.open(desk.port)
    raw.write(rpc, `Host: 127.0.0.1:${desk.port}`, `Authorization: Bearer ${desk.token}`, ...rest)
    const answer = await raw.answer()
    expect(answer.status).toBe(status)
    expect(statusOf(answer).code).toBe(status)
    expect(answer.headers.get('connection')).toBe('close')
    expectProtected(answer)
    expect(await raw.closed()).toBe(true)
    expect(desk.tasks.list({ limit: 1 }).total).toBe(0)
  })

  test('a header that never ends is 408', async () => {
    const desk = await endpointDesk({ limits: { headerTimeout: 200 } })
    const raw = await RawConnection.open(desk.port)
    raw.write(rpc, `Host: 127.0.0.1:${desk.port}`, 'X-')
    const answer = await raw.answer()
    expect(answer.status).toBe(408)
    expect(await raw.closed()).toBe(true)
  })

  test('an unknown expectation is 417', async () => {
    const desk = await endpointDesk()
    expect((await ask(desk, { headers: ['Expect: tea'] })).answer.status).toBe(417)
  })

  test('pipelined requests are answered in their order', async () => {
    const desk = await endpointDesk()
    const raw = await RawConnection.open(desk.port)
    const head = [`Host: 127.0.0.1:${desk.port}`, `Authorization: Bearer ${desk.token}`, '', '']
    raw.write(
      `GET ${listPath} HTTP/1.1`,
      ...head.slice(0, 3),
      'GET /nothing HTTP/1.1',
      ...head.slice(0, 3),
      `GET ${listPath} HTTP/1.1`,
      ...head,
    )
    expect([(await raw.answer()).status, (await raw.answer()).status, (await raw.answer()).status]).toEqual([
      200, 404, 200,
    ])
  })
})
