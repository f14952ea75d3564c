import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Log } from '../../ports.ts'
import { protectiveHeaders, type Refusal, refusalJson } from './answer.ts'
import { checkRequest, readHeaders, type RequestPolicy } from '../../loopback/index.ts'
import { type Exchange, refuse } from './exchange.ts'
import type { ListenerLimits } from './limits.ts'

/** Where the streams of a listener learn that the token they were opened with has been replaced. */
interface TokenWatch {
  readonly generation: number
  tokenEnd(generation: number): number | undefined
}

export interface ListenerOptions {
  readonly policy: RequestPolicy & TokenWatch
  readonly limits: ListenerLimits
  /** Gets every request that passed the checks; a rejection is a defect and answers 500. */
  readonly handle: (exchange: Exchange) => void | Promise<void>
  readonly log: Log
}

export interface Listener {
  /** The addresses that are bound. */
  readonly hosts: readonly string[]
  /** Requests and streams that are open now. */
  counts(): { readonly requests: number; readonly streams: number }
  close(): Promise<void>
}

/**
 * Serves one port on the literal 127.0.0.1 and, where the machine has it, on [::1]: a stranger there would receive what
 * clients send to `localhost`. If either address is taken nothing stays bound and the error has the code EADDRINUSE.
 */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { policy, limits, log } = options
  const open = { requests: 0, streams: 0 }
  const answering = new WeakMap<Duplex, Set<ServerResponse>>()

  function onRequest(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void {
    const facts = readHeaders(request)
    const refused = checkRequest(facts, policy) ?? checkTarget(request, policy.port)
    if (refused !== undefined) {
      refuse({ request, response, facts, limits }, refused)
      return
    }
    if (open.requests >= limits.requests) {
      refuse({ request, response, facts, limits }, busy('requests'))
      return
    }
    open.requests += 1
    const pending = answering.get(request.socket) ?? new Set()
    answering.set(request.socket, pending.add(response))
    let streaming = false
    response.once('close', () => {
      open.requests -= 1
      if (streaming) open.streams -= 1
      pending.delete(response)
    })
    const target = originForm(request.url ?? '/')
    const mark = target.indexOf('?')
    const exchange: Exchange = {
      request,
      response,
      facts,
      path: mark < 0 ? target : target.slice(0, mark),
      query: mark < 0 ? '' : target.slice(mark + 1),
      limits,
      expectsContinue,
      takeStream() {
        if (open.streams >= limits.streams || response.destroyed) return false
        open.streams += 1
        streaming = true
        return true
      },
      tokenGeneration: policy.generation,
      tokenEnd: (generation) => policy.tokenEnd(generation),
    }
    const failed = (error: unknown): void => {
      log.error({ err: error }, 'a request of the A2A endpoint failed')
      refuse(exchange, { status: 500, message: 'The node could not handle this request. Its log has the details.' })
    }
    try {
      const handled = options.handle(exchange)
      if (handled !== undefined) handled.catch(failed)
    } catch (error) {
      failed(error)
    }
  }

  function makeServer(): Server {
    const server = createServer(
      {
        maxHeaderSize: limits.headerBytes,
        headersTimeout: limits.headerTimeout,
        // a large body on a slow connection is fine while it makes progress: body.ts watches that
        requestTimeout: 0,
        keepAliveTimeout: 60_000,
        connectionsCheckingInterval: Math.min(2000, limits.headerTimeout),
        // a missing Host is refused with 421 and our body
        requireHostHeader: false,
        noDelay: true,
      },
      (request, response) => onRequest(request, response, false),
    )
    // without a bound, so that no header is silently left out; the size is bounded
    server.maxHeadersCount = 0
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) =>
      onRequest(request, response, true),
    )
    server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
      const facts = readHeaders(request)
      const refused = checkRequest(facts, policy)
      refuse(
        { request, response, facts, limits },
        refused ?? { status: 417, message: 'Only Expect: 100-continue is known.' },
      )
    })
    server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
      answerBroken(error, socket, limits, answering.get(socket)),
    )
    return server
  }

  const bound: { readonly host: string; readonly server: Server }[] = []
  async function closeAll(): Promise<void> {
    await Promise.all(bound.map(({ server }) => closeServer(server)))
  }
  for (const host of ['127.0.0.1', '::1']) {
    const server = makeServer()
    try {
      server.listen({ host, port: policy.port, exclusive: true })
      await once(server, 'listening')
      bound.push({ host, server })
    } catch (error) {
      if (host === '::1' && isMissingAddress(error)) continue
      await closeAll()
      throw error
    }
  }
  return { hosts: bound.map(({ host }) => host), counts: () => ({ ...open }), close: closeAll }
}

export function busy(what: 'requests' | 'streams'): Refusal {
  return {
    status: 503,
    message: `Too many ${what} are open on this interface. Try again shortly.`,
    headers: ['Retry-After', '1'],
  }
}

/** An absolute-form target names its own authority, which then counts as the Host does. */
function checkTarget(request: IncomingMessage, port: number): Refusal | undefined {
  const target = request.url ?? ''
  if (target.startsWith('/') || target === '*') return undefined
  const authority = /^http:\/\/([^/?#]*)/i.exec(target)?.[1]
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`]
  return authority !== undefined && hosts.includes(authority.toLowerCase())
    ? undefined
    : { status: 421, message: 'The request target does not name this listener.' }
}

function originForm(target: string): string {
  if (target.startsWith('/')) return target
  const rest = target.replace(/^http:\/\/[^/?#]*/i, '')
  return rest.startsWith('/') ? rest : `/${rest}`
}

/**
 * What could not be parsed as a request gets a small JSON answer, unless another answer has begun or comes first on this
 * connection.
 */
function answerBroken(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  limits: ListenerLimits,
  pending: ReadonlySet<ServerResponse> | undefined,
): void {
  const isFree = pending === undefined || pending.size === 0
  const isFirst = pending?.size === 1 && [...pending].every(({ headersSent }) => !headersSent)
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  // the client may not close its side by itself
  const timer = setTimeout(() => socket.destroy(), limits.drainTime)
  socket.once('close', () => clearTimeout(timer))
  if (!(isFree || isFirst)) {
    socket.end()
    return
  }
  const refusal = brokenRequest(error)
  const json = refusalJson(refusal)
  const headers = [`Content-Type: application/json`, `Content-Length: ${Buffer.byteLength(json)}`, 'Connection: close']
  for (let index = 0; index + 1 < protectiveHeaders.length; index += 2) {
    headers.push(`${protectiveHeaders[index]}: ${protectiveHeaders[index + 1]}`)
  }
  socket.end(`HTTP/1.1 ${refusal.status} ${refusal.reason}\r\n${headers.join('\r\n')}\r\n\r\n${json}`)
}

function brokenRequest(error: NodeJS.ErrnoException): Refusal & { readonly reason: string } {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return {
        status: 431,
        reason: 'Request Header Fields Too Large',
        message: 'The request header is limited to 16 KiB.',
      }
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { status: 413, reason: 'Payload Too Large', message: 'The chunk extensions are too long.' }
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, reason: 'Request Timeout', message: 'The request header did not arrive in time.' }
    default:
      return { status: 400, reason: 'Bad Request', message: 'This is not a valid HTTP/1.1 request.' }
  }
}

function isMissingAddress(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT' || code === 'EINVAL'
}

async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}
