import { isUtf8 } from 'node:buffer'
import { extensionUris, parseRequest, type RequestName, type RequestOf } from '@shared/a2a/index.ts'
import type { Aid } from '@shared/wire/index.ts'
import type { Log } from '../../ports.ts'
import { activatedExtensions } from './checks.ts'
import { A2aFailure, invalidParams } from './errors.ts'
import type { Exchange } from './exchange.ts'
import type { Operations } from './operations.ts'
import type { TaskStreams } from './task-stream.ts'

/** What both bindings of an agent stand on. One value for each listener that serves them. */
export interface BindingParts {
  readonly operations: Operations
  readonly streams: TaskStreams
  /** JSON of the extended card, or an A2aFailure: see {@link Cards}. */
  extendedCard(agent: Aid): string
  readonly log: Log
}

/** Extensions that a client can activate on a proxy of this node. */
const offeredExtensions: readonly string[] = [extensionUris.origin, extensionUris.preview]

/** The header that echoes what was activated, as names and values. */
export function extensionHeaders(exchange: Exchange): {
  readonly active: readonly string[]
  readonly headers: string[]
} {
  const active = activatedExtensions(exchange.facts, offeredExtensions)
  return { active, headers: active.length === 0 ? [] : ['A2A-Extensions', active.join(', ')] }
}

/** Parses the parameters of an operation; what is wrong is told by field. */
export function requestOf<N extends RequestName>(name: N, params: unknown): RequestOf<N> {
  const parsed = parseRequest(name, params)
  if (!parsed.ok) throw invalidParams(parsed.violations)
  return parsed.value
}

/** The text of a body. JSON is UTF-8 and nothing else. */
export function textOf(body: Buffer): string {
  if (!isUtf8(body)) throw new A2aFailure('ParseError', 'The body is not UTF-8.')
  return body.toString('utf8')
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new A2aFailure('ParseError', 'The body is not valid JSON.')
  }
}

export function versionNotSupported(): A2aFailure {
  return new A2aFailure('VersionNotSupportedError', 'This interface speaks A2A 1.0: send A2A-Version: 1.0.')
}

export function contentTypeNotSupported(): A2aFailure {
  return new A2aFailure(
    'ContentTypeNotSupportedError',
    'A request body must be application/json or application/a2a+json, in UTF-8 and not compressed.',
  )
}

/** Aborts when the client goes away before it was answered. */
export function clientSignal(exchange: Exchange): AbortSignal {
  const controller = new AbortController()
  const { response } = exchange
  response.once('close', () => {
    if (!response.writableEnded) controller.abort()
  })
  return controller.signal
}
