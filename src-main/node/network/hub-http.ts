import { decode } from '@ipld/dag-cbor'
import { AnetError } from '@shared/errors.ts'
import {
  type Aid,
  authHeader,
  encodeCbor,
  hubErrorSchema,
  hubMediaType,
  holdsTooManyValues,
  type SigningKey,
  signHubRequest,
  type WireCrypto,
} from '@shared/wire/index.ts'
import { type Dispatcher, Pool } from 'undici'
import type { z } from 'zod'
import type { Clock } from '../ports.ts'

/** Why a hub could not be used; in `details.why` of `hub_unreachable`. */
export type HubTrouble = 'connect' | 'timeout' | 'server' | 'garbage'

export interface HubHttpParts {
  readonly origin: string
  /** The hub that requests are signed for; undefined before its identity is known. */
  readonly aid: () => Aid | undefined
  readonly signingKey: () => SigningKey
  readonly crypto: WireCrypto
  readonly clock: Clock
  /** Milliseconds for an answer, without what a large body takes. */
  readonly answerWithin: number
}

export interface HubCall<S extends z.ZodType> {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Encoded as DAG-CBOR, unless it is bytes already. */
  readonly body?: unknown
  readonly answer: S
  readonly maxBytes: number
  /** Time that the hub may let pass on purpose (long poll). */
  readonly waits?: number
  readonly signal?: AbortSignal
  /** Sent without naming this node: before the hub has shown who it is. */
  readonly anonymous?: boolean
}

const slowestBytesPerMs = 32
const longestRetryAfter = 5 * 60_000
const empty = new Uint8Array()

/**
 * Signed requests to one hub over kept connections. Every answer is bounded and parsed. Errors: `hub_unreachable`
 * (with `details.why`), `rate_limited` (with `details.retryAfter` in milliseconds), and the hub's own codes
 * (hubErrorCodes of the wire formats).
 */
export class HubHttp {
  readonly origin: string
  readonly #parts: HubHttpParts
  readonly #pool: Pool

  constructor(parts: HubHttpParts) {
    this.origin = parts.origin
    this.#parts = parts
    this.#pool = new Pool(parts.origin, {
      connections: 16,
      pipelining: 1,
      keepAliveTimeout: 60_000,
      connectTimeout: parts.answerWithin,
    })
  }

  async call<S extends z.ZodType>(call: HubCall<S>): Promise<z.infer<S>> {
    const body = call.body === undefined ? empty : call.body instanceof Uint8Array ? call.body : encodeCbor(call.body)
    const answer = await this.#exchange(call, body)
    if (answer.status >= 200 && answer.status < 300) return this.#parse(call.answer, answer.bytes)
    throw this.#refusal(answer)
  }

  /** Header of a request that is not made here: the mailbox's WebSocket. */
  authorization(method: string, path: string, body: Uint8Array = empty): Record<string, string> {
    const hub = this.#parts.aid()
    if (hub === undefined) return {}
    const request = { hub, time: this.#parts.clock.now(), method, path, body }
    return { [authHeader]: signHubRequest(this.#parts.crypto, this.#parts.signingKey(), request) }
  }

  async close(): Promise<void> {
    await this.#pool.destroy()
  }

  async #exchange(call: HubCall<z.ZodType>, body: Uint8Array): Promise<HubAnswer> {
    const within = this.#parts.answerWithin + (call.waits ?? 0)
    const limit = AbortSignal.timeout(within + Math.ceil((body.byteLength + call.maxBytes / 8) / slowestBytesPerMs))
    try {
      const response = await this.#pool.request({
        method: call.method,
        path: call.path,
        headers: {
          accept: hubMediaType,
          ...(body.byteLength > 0 ? { 'content-type': hubMediaType } : {}),
          ...(call.anonymous === true ? {} : this.authorization(call.method, call.path, body)),
        },
        body: body.byteLength > 0 ? body : null,
        headersTimeout: within,
        bodyTimeout: within,
        signal: call.signal === undefined ? limit : AbortSignal.any([limit, call.signal]),
      })
      const bytes = await readBounded(response.body, call.maxBytes)
      return { status: response.statusCode, retryAfter: header(response, 'retry-after'), bytes }
    } catch (cause) {
      if (cause instanceof AnswerTooLarge) throw this.unreachable('garbage', 'answers with more than was asked for')
      const timeout = limit.aborted || /TIMEOUT|Timeout/.test(nameOf(cause))
      throw timeout
        ? this.unreachable('timeout', 'does not answer in time', cause)
        : this.unreachable('connect', 'cannot be reached', cause)
    }
  }

  #parse<S extends z.ZodType>(schema: S, bytes: Uint8Array): z.infer<S> {
    const parsed = schema.safeParse(decoded(bytes))
    if (parsed.success) return parsed.data
    throw this.unreachable('garbage', 'answers with something that is not the hub protocol')
  }

  #refusal({ status, retryAfter, bytes }: HubAnswer): AnetError {
    const parsed = hubErrorSchema.safeParse(decoded(bytes))
    if (status === 429) {
      return new AnetError('rate_limited', `The hub ${this.origin} asks to wait.`, {
        details: { retryAfter: parseRetryAfter(retryAfter, this.#parts.clock.now()) },
      })
    }
    const named = parsed.success && parsed.data.error.code !== 'internal'
    if (named) return new AnetError(parsed.data.error.code, parsed.data.error.message)
    if (status >= 500) return this.unreachable('server', `has a fault of its own (${status})`)
    return this.unreachable('garbage', `answers with something that is not the hub protocol (${status})`)
  }

  /** `what` completes the sentence "The hub … ". */
  unreachable(why: HubTrouble, what: string, cause?: unknown): AnetError {
    return new AnetError('hub_unreachable', `The hub ${this.origin} ${what}.`, {
      remedy: 'ANet keeps trying.',
      details: { why },
      ...(cause === undefined ? {} : { cause }),
    })
  }
}

interface HubAnswer {
  readonly status: number
  readonly retryAfter: string | undefined
  readonly bytes: Uint8Array
}

class AnswerTooLarge extends Error {}

async function readBounded(body: Dispatcher.ResponseData['body'], maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body as AsyncIterable<Uint8Array>) {
    size += piece.byteLength
    // leaving the loop destroys the stream and with it the connection
    if (size > maxBytes) throw new AnswerTooLarge()
    pieces.push(piece)
  }
  return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces)
}

/** Undefined for bytes that are not DAG-CBOR, or too much of it: no schema accepts that. */
function decoded(bytes: Uint8Array): unknown {
  if (holdsTooManyValues(bytes)) return undefined
  try {
    // a plain view: of a Buffer the decoder would hand out Buffers
    return decode(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  } catch {
    return undefined
  }
}

function header(response: Dispatcher.ResponseData, name: string): string | undefined {
  const value = response.headers[name]
  return typeof value === 'string' ? value : value?.[0]
}

/** Seconds or an HTTP date (RFC 9110, section 10.2.3), in milliseconds from `now`; 1 s if unreadable. */
export function parseRetryAfter(value: string | undefined, now: number): number {
  const seconds = Number(value ?? Number.NaN)
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value ?? '') - now
  return Number.isFinite(wait) ? Math.min(longestRetryAfter, Math.max(0, wait)) : 1000
}

function nameOf(error: unknown): string {
  const { name, code } = error as { name?: unknown; code?: unknown }
  return `${String(name)} ${String(code)}`
}
