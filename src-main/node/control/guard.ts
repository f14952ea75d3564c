import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** Why a request goes no further: the HTTP status and what the answer says. */
export interface Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * The checks that precede everything on the control listener, in the order of the local A2A endpoint (spec/a2a-endpoint.md,
 * Checks): Host names a loopback name and this port (421, against DNS rebinding), no page of a browser asks (403), the
 * bearer token is the control token (401).
 */
export function guard(request: IncomingMessage, listener: { port: number; token: string }): Refusal | undefined {
  const hosts = headerValues(request, 'host')
  if (hosts.length !== 1 || !isLoopbackHost(hosts[0] ?? '', listener.port)) {
    return { status: 421, code: 'misdirected', message: 'The Host header does not name this listener.' }
  }
  const crossSite = headerValues(request, 'sec-fetch-site').some((value) => value.toLowerCase() === 'cross-site')
  if (headerValues(request, 'origin').length > 0 || crossSite) {
    return { status: 403, code: 'origin_refused', message: 'Web pages may not use this listener.' }
  }
  const authorization = headerValues(request, 'authorization')
  const bearer =
    authorization.length === 1 ? /^Bearer ([0-9a-f]{1,256})$/i.exec(authorization[0] ?? '')?.[1] : undefined
  if (bearer === undefined || !sameSecret(bearer, listener.token)) {
    return {
      status: 401,
      code: 'unauthorized',
      message: 'The Authorization header does not carry the control token of this node.',
      headers: { 'www-authenticate': 'Bearer realm="anet-control"' },
    }
  }
  return undefined
}

function headerValues(request: IncomingMessage, name: string): string[] {
  const values: string[] = []
  // the raw list keeps repeated and empty headers, which the parsed object folds
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    if (request.rawHeaders[index]?.toLowerCase() === name) values.push(request.rawHeaders[index + 1] ?? '')
  }
  return values
}

function isLoopbackHost(host: string, port: number): boolean {
  return [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`].includes(host.toLowerCase())
}

function sameSecret(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}
