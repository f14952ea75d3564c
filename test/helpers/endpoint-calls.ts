import { expect } from 'vitest'
import { type A2aErrorName, a2aErrorTable } from '@shared/a2a/index.ts'
import type { EndpointDesk } from './endpoint-desk.ts'

export const hello = { message: { role: 'ROLE_USER', messageId: 'm-1', parts: [{ text: 'hello' }] } }
/** Configuration of a send that does not wait. */
export const at = { returnImmediately: true }

export async function post(desk: EndpointDesk, body: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${desk.url()}/jsonrpc`, {
    method: 'POST',
    headers: { ...desk.headers, 'content-type': 'application/json', ...headers },
    body,
  })
}

export function rest(
  desk: EndpointDesk,
  path: string,
  init: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Response> {
  return fetch(`${desk.url()}/rest/${path}`, {
    method: init.method ?? (init.body === undefined ? 'GET' : 'POST'),
    headers: {
      ...desk.headers,
      ...(init.body === undefined ? {} : { 'content-type': 'application/a2a+json' }),
      ...init.headers,
    },
    ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
  })
}

export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data: readonly Record<string, unknown>[]
}

export async function rpcError(answer: Response): Promise<RpcError & { id: unknown }> {
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/json')
  const body = await answer.json()
  expect(body).not.toHaveProperty('result')
  expect(body.jsonrpc).toBe('2.0')
  return { ...body.error, id: body.id }
}

/** The same failure on both bindings: its JSON-RPC code, and the HTTP status and body of A2A 1.0, section 11.6. */
export async function expectBoth(name: A2aErrorName, viaRpc: Response, viaRest: Response): Promise<void> {
  const row = a2aErrorTable[name]
  const error = await rpcError(viaRpc)
  expect(error.code).toBe(row.code)
  expect(error.data[0]).toMatchObject({ reason: row.reason, domain: 'a2a-protocol.org' })
  expect(viaRest.status).toBe(row.http)
  expect(viaRest.headers.get('content-type')).toBe('application/a2a+json')
  const body = await viaRest.json()
  expect(body.error).toMatchObject({ code: row.http, status: row.status, message: error.message })
  expect(body.error.details[0]).toEqual(error.data[0])
}
