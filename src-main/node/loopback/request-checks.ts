import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** Why a request goes no further, below the level of A2A. */
export interface Refusal {
  readonly status: number
  readonly message: string
  /** Names and values, alternating. */
  readonly headers?: readonly string[]
}

/** What a listener accepts: one value for each listener of the node. */
export interface RequestPolicy {
  readonly port: number
  /** Realm of the Bearer challenge. */
  readonly realm: string
  /** True if the value of the Authorization header, given exactly once, is good now. */
  authorised(authorization: string): boolean
}

/** The headers that decide, read once from the raw list, which keeps repeated and empty ones. */
export interface HeaderFacts {
  hosts: number
  host: string
  origin: boolean
  crossSite: boolean
  authorizations: number
  authorization: string
  contentTypes: number
  contentType: string
  contentEncoding: string
  /** Empty if there is none. The parser refuses requests that have two, or one beside Transfer-Encoding. */
  contentLength: string
  /** The body comes in chunks. */
  chunked: boolean
  version: string
  extensions: string
}

/** Reads the headers that the checks and the bindings look at. */
export function readHeaders(request: IncomingMessage): HeaderFacts {
  const facts: HeaderFacts = {
    hosts: 0,
    host: '',
    origin: false,
    crossSite: false,
    authorizations: 0,
    authorization: '',
    contentTypes: 0,
    contentType: '',
    contentEncoding: '',
    contentLength: '',
    chunked: false,
    version: '',
    extensions: '',
  }
  const raw = request.rawHeaders
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const value = raw[index + 1] ?? ''
    switch (raw[index]?.toLowerCase()) {
      case 'host':
        facts.hosts += 1
        facts.host = value
        break
      case 'origin':
        facts.origin = true
        break
      case 'sec-fetch-site':
        if (value.trim().toLowerCase() === 'cross-site') facts.crossSite = true
        break
      case 'authorization':
        facts.authorizations += 1
        facts.authorization = value
        break
      case 'content-type':
        facts.contentTypes += 1
        facts.contentType = value
        break
      case 'content-encoding':
        facts.contentEncoding = facts.contentEncoding === '' ? value : `${facts.contentEncoding}, ${value}`
        break
      case 'content-length':
        facts.contentLength = value
        break
      case 'transfer-encoding':
        facts.chunked = true
        break
      case 'a2a-version':
        facts.version = facts.version === '' ? value : `${facts.version}, ${value}`
        break
      case 'a2a-extensions':
      case 'x-a2a-extensions':
        facts.extensions = facts.extensions === '' ? value : `${facts.extensions},${value}`
        break
      default:
        break
    }
  }
  return facts
}

/**
 * The checks that precede everything, in this order (seed, Request checks): Host names a loopback name and this port
 * (421), no page of a browser asks (403), the bearer token is the current one (401).
 */
export function checkRequest(facts: HeaderFacts, policy: RequestPolicy): Refusal | undefined {
  if (facts.hosts !== 1 || !isLoopbackHost(facts.host, policy.port)) {
    return {
      status: 421,
      message: `The Host header must be 127.0.0.1:${policy.port}, localhost:${policy.port} or [::1]:${policy.port}.`,
    }
  }
  if (facts.origin || facts.crossSite) {
    return { status: 403, message: 'Web pages may not use this interface: send no Origin header.' }
  }
  if (facts.authorizations !== 1 || !policy.authorised(facts.authorization)) {
    return {
      status: 401,
      message: 'The Authorization header does not carry the current token of this interface.',
      headers: ['WWW-Authenticate', `Bearer realm="${policy.realm}"`],
    }
  }
  return undefined
}

/** True if the client announced a body. */
export function hasBody(facts: HeaderFacts): boolean {
  return facts.chunked || (facts.contentLength !== '' && facts.contentLength !== '0')
}

/** A loopback name and the port, any case, no trailing dot. */
function isLoopbackHost(host: string, port: number): boolean {
  const end = `:${port}`
  if (!host.endsWith(end)) return false
  const name = host.slice(0, -end.length)
  return name === '127.0.0.1' || name === '[::1]' || name.toLowerCase() === 'localhost'
}

/** Compares the value of an Authorization header with a token, in constant time. */
export function isBearer(authorization: string, token: Buffer): boolean {
  if (authorization.length < 7 || authorization.slice(0, 7).toLowerCase() !== 'bearer ') return false
  const given = Buffer.from(authorization.slice(7).trim(), 'latin1')
  return given.byteLength === token.byteLength && timingSafeEqual(given, token)
}
