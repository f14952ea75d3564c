import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Haystack } from './search.ts'

/** A TCP proxy on loopback that keeps every byte of every connection. */
export interface RecordingProxy {
  readonly url: string
  /** One for each direction of each connection; what WebSocket clients masked is there unmasked as well. */
  recorded(): Haystack[]
  close(): Promise<void>
}

export async function recordTraffic(target: string): Promise<RecordingProxy> {
  const { hostname, port } = new URL(target)
  const connections: { readonly up: Buffer[]; readonly down: Buffer[] }[] = []
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const record = { up: [] as Buffer[], down: [] as Buffer[] }
    connections.push(record)
    const upstream = connect(Number(port), hostname)
    pass(client, upstream, record.up, sockets)
    pass(upstream, client, record.down, sockets)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    recorded: () =>
      connections.flatMap(({ up, down }, index) => {
        const sent = Buffer.concat(up)
        return [
          { name: `connection ${index} to the hub`, bytes: sent },
          { name: `connection ${index} to the hub, unmasked`, bytes: unmasked(sent) },
          { name: `connection ${index} from the hub`, bytes: Buffer.concat(down) },
        ]
      }),
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      if (server.listening) await once(server, 'close')
    },
  }
}

function pass(from: Socket, to: Socket, record: Buffer[], sockets: Set<Socket>): void {
  sockets.add(from)
  from.on('data', (bytes: Buffer) => {
    record.push(bytes)
    to.write(bytes)
  })
  from.on('end', () => to.end())
  from.on('error', () => to.destroy())
  from.on('close', () => {
    sockets.delete(from)
    to.destroy()
  })
}

/** The payloads of a WebSocket client's frames, which RFC 6455 (5.3) masks; nothing if it opened no WebSocket. */
function unmasked(sent: Buffer): Buffer {
  const head = sent.indexOf('\r\n\r\n')
  if (head < 0 || !/^upgrade: websocket\r?$/im.test(sent.toString('latin1', 0, head + 1))) return Buffer.alloc(0)
  const payloads: Buffer[] = []
  for (let at = head + 4; at + 6 <= sent.length;) {
    const short = (sent[at + 1] ?? 0) & 0x7f
    const extra = short === 126 ? 2 : short === 127 ? 8 : 0
    const mask = at + 2 + extra
    if (mask + 4 > sent.length) break
    const length = extra === 0 ? short : extra === 2 ? sent.readUInt16BE(at + 2) : Number(sent.readBigUInt64BE(at + 2))
    const payload = Buffer.from(sent.subarray(mask + 4, mask + 4 + length))
    for (let index = 0; index < payload.length; index += 1) {
      payload[index] = (payload[index] ?? 0) ^ (sent[mask + (index % 4)] ?? 0)
    }
    payloads.push(payload)
    at = mask + 4 + length
  }
  return Buffer.concat(payloads)
}
