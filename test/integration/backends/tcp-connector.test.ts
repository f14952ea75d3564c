import { createServer, type Server } from 'node:net'
import type { AddressInfo } from 'node:net'
import { backendSchema } from '@shared/config/index.ts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createConnector, systemSurroundings } from '../../../src-main/node/modules/a2a/backends/connector.ts'

let server: Server
let port: number
let bytes: number

beforeEach(async () => {
  bytes = 0
  server = createServer((socket) => {
    socket.on('data', (data) => (bytes += data.length))
    socket.on('error', () => undefined)
    socket.on('end', () => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})

afterEach(() => new Promise<void>((resolve) => server.close(() => resolve())))

function connector(url: string, surroundings: object = {}) {
  const backend = backendSchema.parse({ match: '*', url, allow_tcp: true })
  return createConnector(backend, { ...systemSurroundings(), ...surroundings })
}

test('a listener on loopback that runs as the node is taken', async () => {
  const seen = await connector(`http://127.0.0.1:${port}`).check(AbortSignal.timeout(5_000))
  expect(seen).toContain(`the listener runs as uid ${process.getuid?.()}`)
})

test('one of another account gets no byte', async () => {
  const foreign = connector(`http://localhost:${port}`, { nodeUid: 64123 })
  await expect(foreign.connect(AbortSignal.timeout(5_000))).rejects.toMatchObject({ code: 'backend_untrusted_peer' })
  expect(bytes).toBe(0)
})

test('plain http to another machine is refused before it is tried', async () => {
  await expect(connector('http://192.0.2.1:80').connect(AbortSignal.timeout(5_000))).rejects.toMatchObject({
    code: 'backend_untrusted_peer',
    remedy: expect.stringContaining('https'),
  })
})

test('the card is the URL itself, or lies at the well-known path below it', () => {
  expect(connector('http://127.0.0.1:1/agents/a/card.json').cardPath).toBe('/agents/a/card.json')
  expect(connector('http://127.0.0.1:1/agents/a/').cardPath).toBe('/agents/a/.well-known/agent-card.json')
  expect(connector('http://127.0.0.1:1').cardPath).toBe('/.well-known/agent-card.json')
})
