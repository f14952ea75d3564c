import type { ServerResponse } from 'node:http'
import { encodeCbor, hubMediaType } from '@shared/wire/index.ts'
import { asHubError, type HubError } from '../errors.ts'
import type { HubParts } from '../parts.ts'

const commonHeaders = {
  'content-type': hubMediaType,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const

/** Time for the client to read the refusal of a body that is not read to its end. */
const lingerMs = 1000

export function errorBody(error: HubError): Uint8Array {
  return encodeCbor({ error: { code: error.code, message: error.message.slice(0, 1024) } })
}

export function errorHeaders(error: HubError): Record<string, string | number> {
  return { ...commonHeaders, ...(error.retryAfter === undefined ? {} : { 'retry-after': error.retryAfter }) }
}

/** Answers with DAG-CBOR bytes. */
export function sendCbor(response: ServerResponse, body: Uint8Array): void {
  response.writeHead(200, { ...commonHeaders, 'content-length': body.byteLength })
  response.end(body)
}

/** Answers with what a client may know of an error; the log gets the rest. */
export function answerError(parts: Pick<HubParts, 'log'>, response: ServerResponse, error: unknown): void {
  const hubError = asHubError(error)
  if (hubError.code === 'internal' && !response.destroyed) parts.log.error({ err: error }, 'A request failed')
  sendError(response, hubError)
}

/** A request that is not read to its end cannot be followed by another: its connection ends. */
function sendError(response: ServerResponse, error: HubError): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const body = errorBody(error)
  const unread = !response.req.complete
  response.writeHead(error.status, {
    ...errorHeaders(error),
    'content-length': body.byteLength,
    ...(unread ? { connection: 'close' } : {}),
  })
  const { socket } = response.req
  response.end(body, () => {
    if (unread) setTimeout(() => socket.destroy(), lingerMs).unref()
  })
}
