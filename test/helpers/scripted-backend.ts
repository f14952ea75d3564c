import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '@shared/a2a/index.ts'

export interface Call {
  readonly method: string
  readonly params: JsonObject & { message?: JsonObject; id?: string }
  readonly authorization: string | undefined
  readonly response: ServerResponse
  /** Answers with a JSON-RPC result. */
  result(value: unknown): void
  /** Sends one event of a stream. */
  event(value: unknown): void
}

export type Script = (call: Call) => void

/** An A2A server on a unix socket that does as a test says, also what no SDK would do. */
export class ScriptedBackend {
  readonly calls: Call[] = []
  readonly #news = new EventEmitter()
  readonly #server: Server
  card: unknown = {
    name: 'Scripted',
    description: '',
    version: '1',
    supportedInterfaces: [{ url: 'https://agent.example/jsonrpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  }
  script: Script

  constructor(script: Script) {
    this.script = script
    this.#server = createServer((request, response) => void this.#answer(request, response))
  }

  async listen(path: string): Promise<this> {
    this.#server.listen(path)
    await once(this.#server, 'listening')
    return this
  }

  /** On a free port of 127.0.0.1. Returns the origin, and lets the card name it. */
  async listenOnTcp(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    const origin = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    this.nameOrigin(origin)
    return origin
  }

  nameOrigin(origin: string): void {
    const supportedInterfaces = [{ url: `${origin}/jsonrpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }]
    this.card = { ...(this.card as object), supportedInterfaces }
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    if (this.#server.listening) await closed
  }

  of(method: string): Call[] {
    return this.calls.filter((call) => call.method === method)
  }

  async called(method: string, times = 1): Promise<Call> {
    while (this.of(method).length < times) await once(this.#news, 'call', { signal: AbortSignal.timeout(10_000) })
    const call = this.of(method)[times - 1]
    if (call === undefined) throw new Error('no such call')
    return call
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const authorization = request.headers.authorization
    if (request.method === 'GET') {
      response.setHeader('content-type', 'application/json')
      response.end(typeof this.card === 'string' ? this.card : JSON.stringify(this.card))
      return
    }
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString()) as {
      id: number
      method: string
      params: Call['params']
    }
    const envelope = (result: unknown) => JSON.stringify({ jsonrpc: '2.0', id, result })
    const call: Call = {
      method,
      params,
      authorization,
      response,
      result: (value) => {
        response.setHeader('content-type', 'application/json')
        response.end(envelope(value))
      },
      event: (value) => {
        if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(`data: ${envelope(value)}\n\n`)
      },
    }
    this.calls.push(call)
    this.#news.emit('call')
    this.script(call)
  }
}

export const task = (state: string, more: object = {}) => ({
  id: 'backend-task',
  contextId: 'backend-context',
  status: { state },
  ...more,
})
export const statusUpdate = (state: string, text?: string) => ({
  statusUpdate: {
    taskId: 'backend-task',
    contextId: 'backend-context',
    status: {
      state,
      ...(text === undefined ? {} : { message: { messageId: `m-${text}`, role: 'ROLE_AGENT', parts: [{ text }] } }),
    },
  },
})
export const artifactUpdate = (text: string, more: object = {}) => ({
  artifactUpdate: {
    taskId: 'backend-task',
    contextId: 'backend-context',
    artifact: { artifactId: 'reply', parts: [{ text }] },
    ...more,
  },
})
