import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { authHeader, hubPaths } from '@shared/wire/index.ts'
import type { RunningHub } from '../../../src-hub/index.ts'
import { envelopeTo, errorCode, type HubAgent, request } from '../../helpers/hub-agent.ts'
import { joinedAgent, temporaryHub } from '../../helpers/temporary-hub.ts'

/** A raw connection to the hub; `answer` is all it says until it closes. */
async function dial(hub: RunningHub): Promise<{ socket: Socket; answer: Promise<string> }> {
  const { hostname, port } = new URL(hub.url)
  const socket = connect(Number(port), hostname)
  const pieces: Buffer[] = []
  socket.on('data', (piece: Buffer) => pieces.push(piece))
  socket.on('error', () => {})
  const answer = once(socket, 'close').then(() => Buffer.concat(pieces).toString('latin1'))
  await once(socket, 'connect')
  return { socket, answer }
}

function head(agent: HubAgent, path: string, body: Uint8Array, lines: readonly string[]): string {
  return [`POST ${path} HTTP/1.1`, 'host: hub', `${authHeader}: ${agent.sign(path, body)}`, ...lines, '', ''].join(
    '\r\n',
  )
}

/** The hub still serves. */
async function expectAlive(agent: HubAgent): Promise<void> {
  expect((await agent.lookup(agent.aid)).aid).toBe(agent.aid)
}

describe('a hub under hostile input', () => {
  it('refuses a body by its declared length, before it comes', async () => {
    const hub = await temporaryHub()
    const agent = await joinedAgent(hub)
    for (const [path, length] of [
      [hubPaths.send, 97 * 1024 * 1024 + 1],
      [`${hubPaths.send}?ephemeral=1`, 2 * 1024 * 1024],
      [hubPaths.lookup, 1024 * 1024 + 1],
      [hubPaths.join, 1024 * 1024 + 1],
      [hubPaths.publish, 1024 * 1024 + 1],
    ] as const) {
      const { socket, answer } = await dial(hub)
      socket.write(head(agent, path, new Uint8Array(), [`content-length: ${length}`]))
      expect(await answer).toMatch(/^HTTP\/1.1 413 [\s\S]*too_large/)
    }
    await expectAlive(agent)
  })

  it('stops reading a body of unknown length that grows over the limit', async () => {
    const hub = await temporaryHub({ limits: { envelopeBytes: 400_000 } })
    const agent = await joinedAgent(hub)
    const { socket, answer } = await dial(hub)
    socket.write(head(agent, hubPaths.send, new Uint8Array(), ['transfer-encoding: chunked']))
    const envelope = envelopeTo(agent.aid, new Uint8Array(500_000))
    for (let at = 0; at < envelope.byteLength; at += 50_000) {
      const piece = envelope.subarray(at, at + 50_000)
      socket.write(`${piece.byteLength.toString(16)}\r\n`)
      socket.write(piece)
      socket.write('\r\n')
    }
    expect(await answer).toMatch(/^HTTP\/1.1 413 [\s\S]*too_large/)
    await expectAlive(agent)
  })

  it('reads no body of somebody who has not signed for it', async () => {
    const hub = await temporaryHub()
    const agent = await joinedAgent(hub)
    const { socket, answer } = await dial(hub)
    socket.write(
      head(agent, hubPaths.lookup, new Uint8Array(), ['content-length: 1000']).replace(
        hubPaths.lookup,
        hubPaths.search,
      ),
    )
    expect(await answer).toMatch(/^HTTP\/1.1 401 [\s\S]*bad_signature/)
  })

  it('gives up a body that comes too slowly, or not to its end', async () => {
    const hub = await temporaryHub({ limits: { bodyIdle: 30 } })
    const agent = await joinedAgent(hub)
    const slow = await dial(hub)
    slow.socket.write(head(agent, hubPaths.send, new Uint8Array(), ['content-length: 1000']))
    slow.socket.write(envelopeTo(agent.aid).subarray(0, 20))
    expect(await slow.answer).toMatch(/^HTTP\/1.1 408 /)

    const trickling = await dial(hub)
    trickling.socket.write(head(agent, hubPaths.lookup, new Uint8Array(), ['content-length: 100000']))
    const trickle = setInterval(() => trickling.socket.write('x'), 5)
    expect(await trickling.answer).toMatch(/^HTTP\/1.1 408 /)
    clearInterval(trickle)

    const cut = await dial(hub)
    cut.socket.write(head(agent, hubPaths.send, new Uint8Array(), ['content-length: 1000']))
    cut.socket.end()
    await cut.answer
    await expectAlive(agent)
    expect(await agent.poll()).toEqual([])
  })

  it('answers garbage with an error and goes on', async () => {
    const hub = await temporaryHub()
    const agent = await joinedAgent(hub)
    const inputs = [
      'GARBAGE\r\n\r\n',
      'GET /hub/v1/info HTTP/1.1\r\n\r\n',
      `GET / HTTP/1.1\r\nhost: hub\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
      'POST /hub/v1/send HTTP/1.1\r\nhost: hub\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n',
      'GET /hub/v1/%zz HTTP/1.1\r\nhost: hub\r\nconnection: close\r\n\r\n',
      'GET //hub/v1/send HTTP/1.1\r\nhost: hub\r\nconnection: close\r\n\r\n',
      'POST /hub/v1/send?%00%ff HTTP/1.1\r\nhost: hub\r\nconnection: close\r\n\r\n',
      'GET /hub/v1/mailbox HTTP/1.1\r\nhost: hub\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
      'GET /hub/v1/mailbox HTTP/1.1\r\nhost: hub\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n',
      'GET /elsewhere HTTP/1.1\r\nhost: hub\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    ]
    for (const input of inputs) {
      const { socket, answer } = await dial(hub)
      socket.write(input)
      expect([input, await answer]).toEqual([input, expect.stringMatching(/^HTTP\/1.1 4\d\d /)])
    }
    await expectAlive(agent)
  })

  it('opens a mailbox to a request that was signed for it, once', async () => {
    const hub = await temporaryHub()
    const agent = await joinedAgent(hub)
    const url = `${hub.url.replace('http', 'ws')}${hubPaths.mailbox}`
    const statusOf = async (header: string, address = url) => {
      const socket = new WebSocket(address, { headers: header === '' ? {} : { [authHeader]: header } })
      socket.on('error', () => {})
      const status = await new Promise<number>((resolve) => {
        socket.once('open', () => resolve(101))
        socket.once('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0))
      })
      socket.terminate()
      return status
    }
    const header = agent.sign(hubPaths.mailbox, new Uint8Array(), 'GET')
    expect(await statusOf('')).toBe(401)
    expect(await statusOf(agent.sign(hubPaths.mailbox, new Uint8Array(), 'POST'))).toBe(401)
    expect(await statusOf(agent.sign(hubPaths.mailbox, Uint8Array.of(1), 'GET'))).toBe(401)
    expect(await statusOf(header, `${url}?a=1`)).toBe(404)
    expect(await statusOf(header)).toBe(101)
    expect(await statusOf(header)).toBe(401)
  })

  it('takes only so many envelopes of one agent at a time', async () => {
    const hub = await temporaryHub({ limits: { concurrentBodies: 2 } })
    const agent = await joinedAgent(hub)
    const envelope = envelopeTo(agent.aid)
    const held = await Promise.all([1, 2].map(() => dial(hub)))
    for (const { socket } of held) {
      socket.write(
        head(agent, hubPaths.send, envelope, [`content-length: ${envelope.byteLength}`, 'connection: close']),
      )
    }
    await expect.poll(async () => errorCode(await agent.send(agent.aid))).toBe('rate_limited')
    for (const { socket, answer } of held) {
      socket.write(envelope)
      expect(await answer).toMatch(/^HTTP\/1.1 200 /)
    }
    expect(errorCode(await agent.send(agent.aid))).toBeUndefined()
  })

  it('tells nothing about itself in headers and errors', async () => {
    const hub = await temporaryHub()
    const answer = await request(hub.url, 'GET', '/nothing', undefined, {})
    expect(answer.status).toBe(404)
    expect(answer.headers.get('x-powered-by')).toBeNull()
    expect(answer.headers.get('content-type')).toBe('application/vnd.ipld.dag-cbor')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(Buffer.from(answer.bytes).toString('latin1')).not.toMatch(/node_modules|at .*\.ts/)
  })
})
