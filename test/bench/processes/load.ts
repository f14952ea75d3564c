import { randomUUID } from 'node:crypto'
import { Agent, request as httpRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { z } from 'zod'
import { serveParent } from '../../../src-main/demo/serve-parent.ts'
import type { LoadRequest } from '../load.ts'

const requestSchema = z.object({
  port: z.number(),
  method: z.enum(['GET', 'POST']),
  path: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
})
const rateSchema = z.object({ request: requestSchema, connections: z.number(), ms: z.number() })
const firstSchema = z.object({ request: requestSchema })

const placeholder = '{{id}}'

/**
 * Requests as bytes on plain sockets: a client library would cost more than the servers that are compared, and hide the
 * difference between them.
 */
async function rate(input: unknown): Promise<{ perSecond: number }> {
  const { request, connections, ms } = rateSchema.parse(input)
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(request.port)))
  const until = performance.now() + ms
  const begin = performance.now()
  const counts = await Promise.all(sockets.map((socket) => drive(socket, bytesOf(request), until)))
  const took = performance.now() - begin
  const answers = counts.reduce((sum, count) => sum + count, 0)
  return { perSecond: (answers / took) * 1000 }
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    socket.once('connect', () => resolve(socket))
    socket.once('error', reject)
  })
}

function bytesOf({ port, method, path, headers, body }: LoadRequest): () => string {
  const id = () => body.replace(placeholder, randomUUID())
  const length = Buffer.byteLength(id())
  const all = { host: `127.0.0.1:${port}`, ...headers, ...(method === 'GET' ? {} : { 'content-length': length }) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
  if (method === 'GET') return () => head
  const whole = head + body
  return body.includes(placeholder) ? () => head + id() : () => whole
}

/** One request after the other on one connection; resolves with the number of answers. */
function drive(socket: Socket, next: () => string, until: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let answers = 0
    let pending = ''
    let expected = -1
    const fail = (why: string): void => {
      socket.destroy()
      reject(new Error(`the server of the bench ${why}`))
    }
    socket.setEncoding('latin1')
    socket.on('error', (error) => fail(error.message))
    socket.on('end', () => fail('closed a connection'))
    socket.on('data', (chunk: string) => {
      pending += chunk
      if (expected < 0) {
        const end = pending.indexOf('\r\n\r\n')
        if (end < 0) return
        if (!pending.startsWith('HTTP/1.1 200')) return fail(`answered ${pending.slice(0, 300)}`)
        const length = /\r\ncontent-length: (\d+)/i.exec(pending)?.[1]
        if (length === undefined) return fail('answered without a length')
        expected = end + 4 + Number(length)
      }
      if (pending.length < expected) return
      if (answers === 0 && !pending.includes('"result":')) return fail(`answered ${pending.slice(0, 1000)}`)
      answers += 1
      pending = ''
      expected = -1
      if (performance.now() < until) {
        socket.write(next(), 'latin1')
        return
      }
      socket.removeAllListeners('end')
      socket.destroy()
      resolve(answers)
    })
    socket.write(next(), 'latin1')
  })
}

const agent = new Agent({ keepAlive: true, noDelay: true })
const updateSchema = z.object({
  result: z.object({ artifactUpdate: z.object({ artifact: z.object({ parts: z.array(z.unknown()) }) }) }),
})

async function firstEvent(input: unknown): Promise<{ ms: number }> {
  return { ms: await timeToContent(firstSchema.parse(input).request) }
}

/** Resolves when the stream has ended, so that nothing of this task is left to do when the next one is measured. */
function timeToContent({ port, method, path, headers, body }: LoadRequest): Promise<number> {
  return new Promise((resolve, reject) => {
    const bytes = body.replace(placeholder, randomUUID())
    let found: number | undefined
    let unread = ''
    const begin = performance.now()
    const outgoing = httpRequest({ agent, host: '127.0.0.1', port, method, path, headers }, (response) => {
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        if (found !== undefined) return
        const now = performance.now()
        unread += chunk
        const events = unread.split('\n\n')
        unread = events.pop() ?? ''
        if (events.some(carriesContent)) found = now - begin
      })
      response.once('error', reject)
      response.once('end', () => {
        if (found === undefined) reject(new Error(`no event of the stream carried content: ${unread.slice(0, 500)}`))
        else resolve(found)
      })
    })
    outgoing.once('error', reject)
    outgoing.setHeader('content-length', Buffer.byteLength(bytes))
    outgoing.end(bytes)
  })
}

function carriesContent(event: string): boolean {
  const data = event.split('\n').find((line) => line.startsWith('data:'))
  if (data === undefined) return false
  const update = updateSchema.safeParse(JSON.parse(data.slice('data:'.length)))
  return update.success && update.data.result.artifactUpdate.artifact.parts.length > 0
}

serveParent({ rate, firstEvent }, async () => agent.destroy())
