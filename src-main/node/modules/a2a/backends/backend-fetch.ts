import type { Socket } from 'node:net'
import { limits } from '@shared/wire/index.ts'
import { Client, fetch as undiciFetch } from 'undici'
import { BackendError } from './backend-error.ts'
import type { Connector } from './types.ts'

export interface BackendFetchOptions {
  readonly connector: Connector
  /** The bearer token, read anew for each connection so that a replaced file takes effect. */
  token(): Promise<string | undefined>
  /**
   * Called on a checked connection, before the first byte of the first request. Throwing keeps everything unwritten.
   */
  beforeWrite?(): Promise<void>
}

/**
 * A fetch that reaches one backend and nothing else. Each request has a connection of its own, checked before anything
 * is written, and so it is always known whether a message can have been taken. Redirects are refused, the token goes to
 * the configured origin only, answers are bounded. Fails with {@link BackendError}, and never with the backend's words.
 */
export function createBackendFetch(options: BackendFetchOptions): typeof fetch {
  let first = true
  return async (input, init) => {
    const url = target(options.connector, new URL(input instanceof Request ? input.url : input))
    const signal = init?.signal ?? new AbortController().signal
    let socket: Socket
    try {
      const token = await options.token()
      socket = await options.connector.connect(signal)
      try {
        if (first) await options.beforeWrite?.()
        first = false
      } catch (error) {
        socket.destroy()
        throw error
      }
      const headers = new Headers(init?.headers)
      if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
      init = { ...init, headers }
    } catch (cause) {
      signal.throwIfAborted()
      throw new BackendError('not_sent', cause instanceof Error ? cause.message : 'not sent', { cause })
    }
    return request(url, init, socket)
  }
}

function target(connector: Connector, url: URL): string {
  const path = url.pathname + url.search
  // a card behind a unix socket names hosts that mean nothing here: only the path counts, the socket is the origin
  if (connector.onSocket) return connector.origin + path
  if (url.origin !== connector.origin) {
    throw new BackendError('not_sent', `The card of the backend names another origin than ${connector.origin}.`)
  }
  return url.href
}

async function request(url: string, init: RequestInit, socket: Socket): Promise<Response> {
  let given = false
  const client = new Client(new URL(url).origin, {
    // answers may take as long as the work does; the caller cancels
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (_options, callback) => {
      const again = given
      given = true
      // the client does not expect an answer before this call has returned
      queueMicrotask(() => {
        if (again) callback(new Error('this connection serves one request'), null)
        else callback(null, socket)
      })
    },
  })
  const response = await exchange(client, url, init)
  // resolves when the answer has been read; an unread one ends with its signal
  void client.close().catch(() => undefined)
  if (response.ok) return bounded(response)
  await response.body?.cancel().catch(() => undefined)
  if (response.status === 503) throw new BackendError('unavailable', 'The backend answered 503.')
  if (response.status >= 300 && response.status < 400) throw new BackendError('refused', 'The backend redirects.')
  throw new BackendError('refused', `The backend answered with HTTP status ${response.status}.`)
}

async function exchange(client: Client, url: string, init: RequestInit): Promise<Response> {
  try {
    const options = { ...init, redirect: 'manual', dispatcher: client } as Parameters<typeof undiciFetch>[1]
    return (await undiciFetch(url, options)) as unknown as Response
  } catch (cause) {
    void client.destroy().catch(() => undefined)
    init.signal?.throwIfAborted()
    throw new BackendError('broken', 'The connection to the backend broke before it answered.', { cause })
  }
}

function bounded(response: Response): Response {
  let bytes = 0
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength
      if (bytes > limits.message.bytes) {
        controller.error(new BackendError('broken', 'The answer of the backend is too large.'))
      } else {
        controller.enqueue(chunk)
      }
    },
  })
  return new Response(response.body?.pipeThrough(counter) ?? null, {
    status: response.status,
    headers: new Headers([...response.headers]),
  })
}
