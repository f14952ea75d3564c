import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type ErrorRequestHandler, type Express } from 'express'
import { z } from 'zod'
import { handle, nodeContract, type NodeDoor, type Result } from '@shared/contract/index.ts'
import { removePrivateFile, writePrivateFile } from '../data-dir/index.ts'
import { checkRequest, isBearer, readHeaders, type Refusal, type RequestPolicy } from '../loopback/index.ts'
import type { Log } from '../ports.ts'
import { streamEvents } from './event-stream.ts'
import { controlFiles, controlPaths, maxCallBytes } from './files.ts'

export interface ControlOptions {
  readonly dataDir: string
  readonly door: NodeDoor
  readonly log: Log
}

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
export async function startControl(options: ControlOptions): Promise<ControlServer> {
  const { dataDir, door, log } = options
  const token = randomBytes(32).toString('hex')
  const ending = new AbortController()
  let port = 0
  const expected = Buffer.from(token)
  const policy: RequestPolicy = {
    get port() {
      return port
    },
    realm: 'anet-control',
    authorised: (authorization) => isBearer(authorization, expected),
  }
  const app = controlApp({ door, log, ending: ending.signal, policy })
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
      await Promise.all([removePrivateFile(files.address), removePrivateFile(files.token)])
      await closeWithin(server, graceMs)
    },
  }
}

function controlApp(parts: { door: NodeDoor; log: Log; ending: AbortSignal; policy: RequestPolicy }): Express {
  const { door, log, ending, policy } = parts
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.use((request, response, next) => {
    response.set({
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    })
    const refusal = checkRequest(readHeaders(request), policy)
    if (refusal !== undefined) {
      refuse(response, refusal)
      return
    }
    if (request.headers.expect !== undefined) response.writeContinue()
    next()
  })
  app
    .route(controlPaths.call)
    .post(async (request, response) => {
      const body = await readBody(request)
      if (body === undefined) {
        refuse(response, { status: 413, message: `A call is limited to ${maxCallBytes} bytes.` })
        return
      }
      const call = callSchema.safeParse(parseJson(body))
      if (!call.success || !request.is('application/json')) {
        refuse(response, {
          status: call.success ? 415 : 400,
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
    refuse(response, { status: 404, message: 'There is nothing at this path.' })
  })
  const onError: ErrorRequestHandler = (error: unknown, request, response, _next) => {
    // a client that left in the middle of its request is nobody's failure
    if (request.destroyed && !request.complete) return
    const isMalformed = error instanceof URIError
    if (!isMalformed) log.error({ err: error }, 'a request of the control plane failed')
    if (response.headersSent) response.destroy()
    else if (isMalformed) refuse(response, { status: 400, message: 'The path is malformed.' })
    else refuse(response, { status: 500, message: 'Something failed inside ANet.' })
  }
  app.use(onError)
  return app
}

/** Undefined as soon as the body is known to be too large: the rest is not read. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > maxCallBytes) return undefined
  const chunks: Buffer[] = []
  let size = 0
  // leaving the loop early must not destroy the request: its connection still carries the answer
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.byteLength
    if (size > maxCallBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

function methodNotAllowed(allow: string): Refusal {
  return { status: 405, message: `Use ${allow}.`, headers: ['Allow', allow] }
}

const codes: Readonly<Record<number, string>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'origin_refused',
  404: 'no_such_path',
  405: 'method_not_allowed',
  413: 'too_large',
  415: 'wrong_media_type',
  421: 'misdirected',
}

/** Answers a request that goes no further, in the form of a call's answer. */
function refuse(response: ServerResponse, { status, message, headers = [] }: Refusal): void {
  const refusal: Result = { ok: false, error: { code: codes[status] ?? 'internal', message } }
  const body = JSON.stringify(refusal)
  for (let index = 0; index + 1 < headers.length; index += 2) {
    response.setHeader(headers[index] ?? '', headers[index + 1] ?? '')
  }
  // the rest of a refused request is not read: the connection goes with it
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  })
  response.end(body)
}

async function closeWithin(server: Server, graceMs: number): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  const timer = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearTimeout(timer)
}
