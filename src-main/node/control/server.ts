import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type ErrorRequestHandler, type Express } from 'express'
import { z } from 'zod'
import { handle, nodeContract, type NodeDoor, type Result } from '@shared/contract/index.ts'
import { writePrivateFile } from '../data-dir/index.ts'
import type { Log } from '../ports.ts'
import { streamEvents } from './event-stream.ts'
import { controlFiles, controlPaths, maxCallBytes } from './files.ts'
import { guard, type Refusal } from './guard.ts'

export interface ControlServer {
  /** `127.0.0.1:<port>`, another one at every start. */
  readonly address: string
  readonly tokenFile: string
  /** Ends the event streams, lets running calls finish for `graceMs`, then closes every connection. */
  close(graceMs?: number): Promise<void>
}

const callSchema = z.strictObject({ method: z.string().min(1).max(128), input: z.unknown() })

/**
 * Opens the control plane (spec/architecture.md, One node): a loopback listener on a random port, whose address and token
 * are written for this user alone and hold for this start only. It projects the node contract: `POST /control/v1/call`
 * with {method, input} answers an envelope {ok, value | error}; `GET /control/v1/events` streams the node's events.
 */
export async function startControl(options: { dataDir: string; door: NodeDoor; log: Log }): Promise<ControlServer> {
  const { dataDir, door, log } = options
  const token = randomBytes(32).toString('hex')
  const ending = new AbortController()
  let port = 0
  const app = controlApp({ door, log, ending: ending.signal, check: (request) => guard(request, { port, token }) })
  const server = createServer(
    { maxHeaderSize: 16 * 1024, headersTimeout: 10_000, requestTimeout: 30_000, requireHostHeader: false },
    app,
  )
  server.maxConnections = 256
  server.on('checkContinue', app)
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable) return
    const status =
      error.code === 'HPE_HEADER_OVERFLOW'
        ? '431 Request Header Fields Too Large'
        : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
          ? '408 Request Timeout'
          : '400 Bad Request'
    socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
  })

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
  const address = `127.0.0.1:${port}`
  const files = controlFiles(dataDir)
  try {
    // the token first: who finds the address finds the token that belongs to it
    await writePrivateFile(files.token, `${token}\n`)
    await writePrivateFile(files.address, `${address}\n`)
  } catch (error) {
    server.close()
    throw error
  }

  return {
    address,
    tokenFile: files.token,
    async close(graceMs = 2000) {
      ending.abort()
      await Promise.all([rm(files.address, { force: true }), rm(files.token, { force: true })])
      await closeWithin(server, graceMs)
    },
  }
}

function controlApp(parts: {
  door: NodeDoor
  log: Log
  ending: AbortSignal
  check: (request: IncomingMessage) => Refusal | undefined
}): Express {
  const { door, log, ending, check } = parts
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.use((request, response, next) => {
    response.set({
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    })
    const refusal = check(request)
    if (refusal !== undefined) {
      refuse(response, refusal)
      return
    }
    if (request.headers.expect !== undefined) response.writeContinue()
    next()
  })
  app
    .route(controlPaths.call)
    .post(express.json({ limit: maxCallBytes, type: 'application/json' }), async (request, response) => {
      const call = callSchema.safeParse(request.body)
      if (!call.success) {
        refuse(response, {
          status: request.is('application/json') ? 400 : 415,
          code: 'invalid_call',
          message: 'A call is a JSON object {"method": "group.name", "input": {…}} of type application/json.',
        })
        return
      }
      const { method, input } = call.data
      const onUnexpected = (error: unknown): void =>
        log.error({ err: error, method }, 'a call of the control plane failed')
      response.json(await handle(nodeContract, door.client, method, input ?? {}, onUnexpected))
    })
    .all((_request, response) => refuse(response, methodNotAllowed('POST')))
  app
    .route(controlPaths.events)
    .get((_request, response) => streamEvents(door, response, ending))
    .all((_request, response) => refuse(response, methodNotAllowed('GET')))
  app.use((_request, response) => {
    refuse(response, { status: 404, code: 'no_such_path', message: 'There is nothing at this path.' })
  })
  const onError: ErrorRequestHandler = (error: unknown, _request, response, _next) => {
    const parsed = z.object({ status: z.int().min(400).max(499) }).safeParse(error)
    if (!parsed.success) log.error({ err: error }, 'a request of the control plane failed')
    const status = parsed.data?.status ?? 500
    const message = status === 413 ? `A call is limited to ${maxCallBytes} bytes.` : 'The request could not be read.'
    if (response.headersSent) response.destroy()
    else refuse(response, { status, code: status === 413 ? 'too_large' : 'bad_request', message })
  }
  app.use(onError)
  return app
}

function methodNotAllowed(allow: string): Refusal {
  return { status: 405, code: 'method_not_allowed', message: `Use ${allow}.`, headers: { allow } }
}

function refuse(response: ServerResponse, { status, code, message, headers }: Refusal): void {
  const body: Result = { ok: false, error: { code, message } }
  // the rest of a refused request is not read: the connection goes with it
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...headers })
  response.end(JSON.stringify(body))
}

async function closeWithin(server: Server, graceMs: number): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  const timer = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearTimeout(timer)
}
