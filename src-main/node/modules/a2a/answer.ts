import type { ServerResponse } from 'node:http'
import type { StatusBody } from '@shared/a2a/index.ts'
import type { Refusal } from '../../loopback/index.ts'

export type { Refusal } from '../../loopback/index.ts'

export const jsonType = 'application/json'
export const a2aJsonType = 'application/a2a+json'

/** On every answer of the endpoint, as a flat list: node:http writes it without another copy. */
export const protectiveHeaders: readonly string[] = [
  'X-Content-Type-Options',
  'nosniff',
  'Referrer-Policy',
  'no-referrer',
  'Cache-Control',
  'no-store',
]

/** `google.rpc.Code` names for the HTTP statuses with which requests are refused. */
const rpcStatus: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  408: 'DEADLINE_EXCEEDED',
  413: 'RESOURCE_EXHAUSTED',
  417: 'UNIMPLEMENTED',
  421: 'FAILED_PRECONDITION',
  431: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
}

export const isRefusal = (value: unknown): value is Refusal =>
  typeof value === 'object' && value !== null && 'status' in value && 'message' in value

export function refusalJson({ status, message }: Refusal): string {
  const body: StatusBody = { error: { code: status, status: rpcStatus[status] ?? 'UNKNOWN', message, details: [] } }
  return JSON.stringify(body)
}

/** Writes a whole JSON answer. `headers`: names and values, alternating. */
export function answerJson(
  response: ServerResponse,
  status: number,
  type: string,
  json: string,
  headers: readonly string[] = [],
): void {
  const length = String(Buffer.byteLength(json))
  response.writeHead(status, [
    'Content-Type',
    type,
    'Content-Length',
    length,
    ...protectiveHeaders,
    ...headers,
  ] as string[])
  response.end(json)
}
