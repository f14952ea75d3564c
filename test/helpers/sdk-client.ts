import { randomUUID } from 'node:crypto'
import { type Message, SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk'
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  createAuthenticatingFetchWithRetry,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'
import { type Task as WireTask, type TaskState, taskSchema } from '@shared/a2a/index.ts'

export const bindings = ['JSONRPC', 'HTTP+JSON'] as const
export type Binding = (typeof bindings)[number]

export interface SdkClientOptions {
  /** URL of the agent on the endpoint, as the list and "Copy URL" give it. */
  readonly url: string
  readonly token: string
  readonly binding: Binding
  /** What lies between the client and the endpoint: a network that loses answers, a proxy that changes headers. */
  readonly fetch?: typeof fetch
  /** Names the card itself instead of the agent. */
  readonly byCardUrl?: boolean
}

/** The SDK's client as its documentation builds it: one binding preferred, and the token on every request. */
export async function sdkClient(options: SdkClientOptions): Promise<Client> {
  const fetchImpl = createAuthenticatingFetchWithRetry(options.fetch ?? fetch, {
    headers: async () => ({ Authorization: `Bearer ${options.token}` }),
    shouldRetryWithHeaders: async () => undefined,
  })
  const factory = new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
      preferredTransports: [options.binding],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
    }),
  )
  if (options.byCardUrl === true) return factory.createFromUrl(`${options.url}/.well-known/agent-card.json`, '')
  // the SDK resolves the card's path against the URL: without the slash its last segment is lost
  return factory.createFromUrl(`${options.url}/`)
}

/** A fetch that sets headers over those of the client. */
export function fetchWith(headers: Readonly<Record<string, string>>): typeof fetch {
  return (input, init) => {
    const changed = new Headers(init?.headers)
    for (const [name, value] of Object.entries(headers)) changed.set(name, value)
    return fetch(input, { ...init, headers: changed })
  }
}

export interface Sending {
  readonly messageId?: string
  readonly taskId?: string
  readonly contextId?: string
  /** Instead of the text: parts in their wire form. */
  readonly parts?: readonly object[]
  readonly configuration?: object
}

/** A send of one text. */
export function request(text: string, { configuration, ...message }: Sending = {}): SendMessageRequest {
  return SendMessageRequest.fromJSON({
    message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...message },
    ...(configuration === undefined ? {} : { configuration }),
  })
}

/** The same, answered as soon as the task exists. */
export function immediately(text: string, message: Sending = {}): SendMessageRequest {
  return request(text, { ...message, configuration: { returnImmediately: true } })
}

/** What a client got, as A2A writes it on the wire. */
export function wire(result: Task | Message): WireTask {
  if (!('status' in result)) throw new Error('The answer is a message, not a task.')
  return taskSchema.parse(Task.toJSON(result))
}

/** Texts of a task's artifacts, each joined. */
export function artifactTexts(task: Pick<WireTask, 'artifacts'>): string[] {
  return (task.artifacts ?? []).map(({ parts }) => parts.map(({ text }) => text ?? '').join(''))
}

/** An event of a stream in few words: `task`, the id of an artifact, or a state. */
export interface SeenEvent {
  readonly what: 'task' | 'artifact' | 'status' | 'message'
  readonly state?: TaskState
  readonly artifactId?: string
  readonly text: string
  readonly json: string
  readonly taskId: string
}

export function seen(event: StreamResponse): SeenEvent {
  const json = StreamResponse.toJSON(event) as {
    task?: WireTask
    artifactUpdate?: { taskId: string; artifact: { artifactId: string; parts: { text?: string }[] } }
    statusUpdate?: { taskId: string; status: { state: TaskState; message?: { parts: { text?: string }[] } } }
  }
  const rest = { json: JSON.stringify(json) }
  const textOf = (parts: readonly { text?: string }[] = []): string => parts.map(({ text }) => text ?? '').join('')
  const { task, artifactUpdate, statusUpdate } = json
  if (task !== undefined) {
    const { id, status } = task
    return { ...rest, what: 'task', taskId: id, state: status.state, text: artifactTexts(task).join('') }
  }
  if (artifactUpdate !== undefined) {
    const { artifactId, parts } = artifactUpdate.artifact
    return { ...rest, what: 'artifact', taskId: artifactUpdate.taskId, artifactId, text: textOf(parts) }
  }
  if (statusUpdate !== undefined) {
    const { state, message } = statusUpdate.status
    return { ...rest, what: 'status', taskId: statusUpdate.taskId, state, text: textOf(message?.parts) }
  }
  return { ...rest, what: 'message', taskId: '', text: '' }
}

/** All events of a stream until it closes. */
export async function seenAll(stream: AsyncIterable<StreamResponse>): Promise<SeenEvent[]> {
  const events: SeenEvent[] = []
  for await (const event of stream) events.push(seen(event))
  return events
}

/** The next event of a stream that goes on. */
export async function nextEvent(stream: AsyncIterator<StreamResponse>): Promise<SeenEvent> {
  const { value, done } = await stream.next()
  if (done === true) throw new Error('The stream has closed.')
  return seen(value)
}
