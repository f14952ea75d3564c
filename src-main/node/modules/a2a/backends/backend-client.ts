import {
  CancelTaskRequest,
  GetTaskRequest,
  SendMessageRequest,
  type SendMessageResult,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
} from '@a2a-js/sdk'
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'
import type { JsonObject, Message } from '@shared/a2a/index.ts'
import { limits } from '@shared/wire/index.ts'
import { BackendError } from './backend-error.ts'
import { type BackendEvent, readBackendEvent } from './backend-event.ts'
import { createBackendFetch } from './backend-fetch.ts'
import type { Connector } from './types.ts'

type Card = Parameters<ClientFactory['createFromAgentCard']>[0]

/** An A2A server as the forwarder sees it. Every method fails with {@link BackendError} or the signal's reason. */
export interface BackendClient {
  /** Reads the card, or answers from memory. */
  card(signal: AbortSignal): Promise<{ readonly name: string; readonly streaming: boolean }>
  /** Forgets the card: the backend may have been replaced. */
  forgetCard(): void
  /** `beforeWrite` runs on a checked connection before the message is written; the card has been read by then. */
  send(
    message: Message,
    options: { metadata: JsonObject; signal: AbortSignal; beforeWrite: () => Promise<void> },
  ): AsyncGenerator<BackendEvent, void, undefined>
  getTask(id: string, signal: AbortSignal): Promise<BackendEvent>
  subscribe(id: string, signal: AbortSignal): AsyncGenerator<BackendEvent, void, undefined>
  cancel(id: string, signal: AbortSignal): Promise<BackendEvent>
}

/** Speaks A2A 1.0 in both bindings, and 0.3, through the SDK's client (facts/a2a-1.0.md). */
export function createBackendClient(options: {
  connector: Connector
  readonly token: () => Promise<string | undefined>
}): BackendClient {
  const { connector, token } = options
  const legacyCompat = { enabled: true }
  let known: Card | undefined

  async function readCard(signal: AbortSignal): Promise<Card> {
    if (known !== undefined) return known
    const fetchImpl: typeof fetch = async (input, init) =>
      small(await createBackendFetch({ connector, token })(input, { ...init, signal }))
    const resolver = new DefaultAgentCardResolver({ fetchImpl, legacyCompat })
    try {
      known = await resolver.resolve(connector.origin, connector.cardPath)
      return known
    } catch (cause) {
      signal.throwIfAborted()
      // nothing of a task went out: whatever the card request met, the message was not sent
      const why = cause instanceof BackendError ? cause.message : 'What it serves as its card is none.'
      throw new BackendError('not_sent', `The card of the backend cannot be read. ${why}`, { cause })
    }
  }

  async function open(signal: AbortSignal, beforeWrite?: () => Promise<void>): Promise<Client> {
    const card = await readCard(signal)
    const fetchImpl = createBackendFetch({ connector, token, ...(beforeWrite && { beforeWrite }) })
    const factory = new ClientFactory({
      transports: [
        new JsonRpcTransportFactory({ fetchImpl, legacyCompat }),
        new RestTransportFactory({ fetchImpl, legacyCompat }),
      ],
      preferredTransports: ['JSONRPC', 'HTTP+JSON'],
    })
    try {
      return await factory.createFromAgentCard(card)
    } catch (cause) {
      throw new BackendError('not_sent', 'The card of the backend names no binding that this node speaks.', { cause })
    }
  }

  async function* stream(
    signal: AbortSignal,
    start: () => Promise<AsyncGenerator<StreamResponse, void, undefined>>,
  ): AsyncGenerator<BackendEvent, void, undefined> {
    try {
      for await (const event of await start()) yield readBackendEvent(StreamResponse.toJSON(event))
    } catch (error) {
      throw backendFailure(error, signal)
    }
  }

  async function unary(signal: AbortSignal, call: (client: Client) => Promise<SendMessageResult>) {
    try {
      const result = await call(await open(signal))
      return readBackendEvent({ task: Task.toJSON(result as Task) })
    } catch (error) {
      throw backendFailure(error, signal)
    }
  }

  return {
    async card(signal) {
      const card = await readCard(signal)
      return { name: card.name, streaming: card.capabilities?.streaming === true }
    },
    forgetCard() {
      known = undefined
    },
    send(message, { metadata, signal, beforeWrite }) {
      const request = SendMessageRequest.fromJSON({
        message,
        metadata,
        configuration: { acceptedOutputModes: ['text/plain', '*/*'] },
      })
      return stream(signal, async () => (await open(signal, beforeWrite)).sendMessageStream(request, { signal }))
    },
    getTask: (id, signal) =>
      unary(signal, (client) => client.getTask(GetTaskRequest.fromJSON({ id, historyLength: 0 }), { signal })),
    subscribe: (id, signal) =>
      stream(signal, async () =>
        (await open(signal)).resubscribeTask(SubscribeToTaskRequest.fromJSON({ id }), { signal }),
      ),
    cancel: (id, signal) =>
      unary(signal, (client) => client.cancelTask(CancelTaskRequest.fromJSON({ id }), { signal })),
  }
}

/** An A2A error is the backend's answer; whatever else fails after the first byte leaves the outcome unknown. */
function backendFailure(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason
  if (error instanceof BackendError) return error
  const cause = error instanceof Error ? error.cause : undefined
  if (isA2aError(error) || isA2aError(cause)) {
    return new BackendError('refused', 'The backend answered with an A2A error.', { cause: error })
  }
  return new BackendError('broken', 'The backend answered with something that is not A2A.', { cause: error })
}

function isA2aError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && Symbol.for('@a2a-js/sdk.A2AError') in error
}

async function small(response: Response): Promise<Response> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  const reader = response.body?.getReader()
  for (;;) {
    const next = await reader?.read()
    if (next === undefined || next.done) break
    bytes += next.value.byteLength
    if (bytes > limits.card.bytes) {
      await reader?.cancel()
      throw new BackendError('refused', 'Its card is too large.')
    }
    chunks.push(next.value)
  }
  return new Response(Buffer.concat(chunks), { status: response.status, headers: response.headers })
}
