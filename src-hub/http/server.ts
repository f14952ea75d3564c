import { createServer, type IncomingMessage, type RequestListener, type Server, STATUS_CODES } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { AnetError } from '@shared/errors.ts'
import { hubPaths } from '@shared/wire/index.ts'
import { asHubError, HubError } from '../errors.ts'
import type { MailboxSessions } from '../mailbox/sessions.ts'
import type { HubParts } from '../parts.ts'
import { errorBody, errorHeaders } from './answer.ts'
import type { RateLimits } from './app.ts'
import { authenticateMember, checkBody, useNonce } from './authenticate.ts'
import { crypto } from '../crypto.ts'

const emptyHash = crypto.sha256(new Uint8Array())
const headersTimeoutMs = 15_000
/** Longer than agents keep an idle connection, so that no request meets one that is just being closed. */
const keepAliveMs = 65_000

/** A server whose bodies have limits of their own (./body.ts), so that a large one may take its time. */
export function createHubServer(listener: RequestListener): Server {
  const server = createServer(
    { requestTimeout: 0, headersTimeout: headersTimeoutMs, keepAliveTimeout: keepAliveMs, maxHeaderSize: 16 * 1024 },
    listener,
  )
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n')
    else socket.destroy()
  })
  return server
}

/** Upgrades to the mailbox; everything else about WebSockets is refused in HTTP. */
export function acceptMailboxes(server: Server, parts: HubParts, rates: RateLimits, sessions: MailboxSessions): void {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const onError = () => socket.destroy()
    socket.on('error', onError)
    openMailbox(parts, rates, request).then(
      (aid) => {
        socket.off('error', onError)
        parts.metrics.request(hubPaths.mailbox, 101)
        sessions.open(aid, request, socket, head)
      },
      (error: unknown) => {
        const hubError = asHubError(error)
        if (hubError.code === 'internal') parts.log.error({ err: error }, 'A mailbox could not be opened')
        parts.metrics.request(hubPaths.mailbox, hubError.status)
        refuse(socket, hubError)
      },
    )
  })
}

async function openMailbox(parts: HubParts, rates: RateLimits, request: IncomingMessage): Promise<string> {
  const path = request.url ?? ''
  if (path !== hubPaths.mailbox) throw new HubError('not_found', 'This hub has no WebSocket at this address.')
  const signed = await authenticateMember(parts, request, path)
  rates.requests.take(signed.aid)
  checkBody(signed, emptyHash)
  await useNonce(parts, signed)
  return signed.aid
}

function refuse(socket: Duplex, error: HubError): void {
  const body = errorBody(error)
  const headers = Object.entries({ ...errorHeaders(error), 'content-length': body.byteLength, connection: 'close' })
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.write(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}\r\n${lines}\r\n`)
  socket.end(body, () => socket.destroy())
}

/** Listens and tells the port. Errors: `hub_port_in_use`, `hub_port_forbidden`. */
export async function listen(server: Server, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(listenError(cause, host, port)))
    server.listen(port, host, resolve)
  })
  return (server.address() as AddressInfo).port
}

function listenError(cause: NodeJS.ErrnoException, host: string, port: number): Error {
  if (cause.code === 'EADDRINUSE') {
    return new AnetError('hub_port_in_use', `Another program listens on ${host}:${port}.`, {
      remedy: 'Choose another port with --port.',
      cause,
    })
  }
  if (cause.code === 'EACCES' || cause.code === 'EADDRNOTAVAIL') {
    return new AnetError('hub_port_forbidden', `This machine does not let the hub listen on ${host}:${port}.`, {
      remedy: 'Choose an address of this machine and a port above 1023.',
      cause,
    })
  }
  return cause
}

/**
 * Stops taking requests, lets those under way end within `grace` milliseconds, then cuts the rest; `cut` does it for
 * connections that are not HTTP any more.
 */
export async function closeServer(server: Server, grace: number, cut: () => void = () => {}): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  // connections that are still answering close as soon as they are idle
  server.keepAliveTimeout = 1
  const timer = setTimeout(() => {
    server.closeAllConnections()
    cut()
  }, grace)
  await closed
  clearTimeout(timer)
}
