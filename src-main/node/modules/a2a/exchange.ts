import type { IncomingMessage, ServerResponse } from 'node:http'
import { answerJson, jsonType, protectiveHeaders, type Refusal, refusalJson } from './answer.ts'
import { hasBody, type HeaderFacts } from '../../loopback/index.ts'
import type { ListenerLimits } from './limits.ts'

/** One request that passed the checks, and what it may use of its listener. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly facts: HeaderFacts
  /** Without the query. */
  readonly path: string
  /** Without the question mark. */
  readonly query: string
  readonly limits: ListenerLimits
  /** The client waits for `100 Continue` before it sends the body. */
  expectsContinue: boolean
  /** Takes one of the places for streams until the response closes; false if all are taken. */
  takeStream(): boolean
  /** Which token this request was let in with; see {@link TokenFile.generation}. */
  readonly tokenGeneration: number
  /** When a stream let in with this token has to end (milliseconds since 1970); undefined while the token is current. */
  tokenEnd(generation: number): number | undefined
}

/**
 * Refuses a request. A connection whose request had no body, or whose body was read, stays usable. Otherwise the answer is
 * written whole, a bounded rest of the body is read so that no reset overtakes the answer, and the connection closes.
 */
export function refuse(
  exchange: Pick<Exchange, 'request' | 'response' | 'facts' | 'limits'>,
  refusal: Refusal,
  form: { readonly type?: string; readonly json?: string } = {},
): void {
  const { request, response, facts, limits } = exchange
  const json = form.json ?? refusalJson(refusal)
  const type = form.type ?? jsonType
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  if (request.complete || !hasBody(facts)) {
    answerJson(response, refusal.status, type, json, refusal.headers)
    return
  }
  response.writeHead(refusal.status, [
    'Content-Type',
    type,
    'Content-Length',
    String(Buffer.byteLength(json)),
    'Connection',
    'close',
    ...protectiveHeaders,
    ...(refusal.headers ?? []),
  ] as string[])
  // the client has the whole answer; ending the response now would reset the connection under its feet
  response.write(json)
  drain(request, limits, () => response.end())
}

function drain(request: IncomingMessage, limits: ListenerLimits, done: () => void): void {
  let left = limits.drainBytes
  const timer = setTimeout(finish, limits.drainTime)
  function onData(chunk: Buffer): void {
    left -= chunk.byteLength
    // the client may still be writing: it is given the rest of the time to notice the answer
    if (left <= 0) request.pause()
  }
  function finish(): void {
    clearTimeout(timer)
    request.off('data', onData)
    request.off('end', finish)
    request.off('close', finish)
    done()
  }
  request.on('data', onData)
  request.on('end', finish)
  request.on('close', finish)
  request.resume()
}
