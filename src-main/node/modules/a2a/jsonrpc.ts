import { anetKeys } from '@shared/a2a/index.ts'
import type { Aid } from '@shared/wire/index.ts'
import { answerJson, isRefusal, jsonType, protectiveHeaders } from './answer.ts'
import {
  type BindingParts,
  clientSignal,
  contentTypeNotSupported,
  extensionHeaders,
  parseJson,
  requestOf,
  textOf,
  versionNotSupported,
} from './binding.ts'
import { clientGone, readBody } from './body.ts'
import { hasBody } from '../../loopback/index.ts'
import { isJsonContent, isServedVersion } from './checks.ts'
import { A2aFailure, failureOf, rpcErrorJson } from './errors.ts'
import { type Exchange, refuse } from './exchange.ts'
import { pushNotSupported } from './operations.ts'
import { numberAsSent } from './rpc-id.ts'

/** A parsed call. `id`: its JSON text as the client wrote it; undefined for a notification. */
interface Call {
  readonly id: string | undefined
  readonly method: string
  readonly params: unknown
}

/** Methods that are answered with a stream, whose events carry the id. */
const streaming: ReadonlySet<string> = new Set(['SendStreamingMessage', 'SubscribeToTask'])
/** Longest id that is echoed. */
const maxIdChars = 4096

type Outcome =
  | { readonly kind: 'result'; readonly json: string }
  | { readonly kind: 'streaming' }
  | { readonly kind: 'gone' }

/**
 * The JSON-RPC 2.0 binding of A2A 1.0 for one agent. Every call that reached it is answered with HTTP 200, also when the
 * answer carries an error object; a notification with 204.
 */
export async function serveJsonRpc(parts: BindingParts, exchange: Exchange, agent: Aid): Promise<void> {
  const { request, response, facts } = exchange
  if (request.method !== 'POST') {
    refuse(exchange, { status: 405, message: 'Use POST.', headers: ['Allow', 'POST'] })
    return
  }
  if (!isJsonContent(facts) && (hasBody(facts) || facts.contentTypes > 0)) {
    const json = envelope('null', 'error', rpcErrorJson(contentTypeNotSupported()))
    refuse(exchange, { status: 200, message: '' }, { json })
    return
  }
  const body = await readBody(exchange)
  if (body === clientGone) return
  if (isRefusal(body)) {
    refuse(exchange, body)
    return
  }
  const { active, headers } = extensionHeaders(exchange)
  let id: string | undefined = 'null'
  let isCall = false
  try {
    const text = textOf(body)
    const call = readCall(parseJson(text), text, (sent) => {
      id = sent
    })
    isCall = true
    if (!isServedVersion(facts, exchange.query)) throw versionNotSupported()
    const outcome = await perform(parts, exchange, agent, call, { active, headers })
    if (outcome.kind !== 'result') return
    if (id === undefined) answerNothing(exchange, headers)
    else answerJson(response, 200, jsonType, envelope(id, 'result', outcome.json), headers)
  } catch (error) {
    const failure = failureOf(error, (unexpected) =>
      parts.log.error({ err: unexpected }, 'a JSON-RPC call of the A2A endpoint failed'),
    )
    // a notification is never answered; what cannot be told to be one is, with the id null
    if (isCall && id === undefined) answerNothing(exchange, headers)
    else answerJson(response, 200, jsonType, envelope(id ?? 'null', 'error', rpcErrorJson(failure)), headers)
  }
}

function envelope(id: string, member: 'result' | 'error', json: string): string {
  return `{"jsonrpc":"2.0","id":${id},"${member}":${json}}`
}

function answerNothing({ response }: Exchange, headers: readonly string[]): void {
  response.writeHead(204, [...protectiveHeaders, ...headers] as string[])
  response.end()
}

/** Tells the id to `onId` as soon as it is known, so that errors about the rest echo it. */
function readCall(value: unknown, text: string, onId: (id: string | undefined) => void): Call {
  const invalid = (why: string): A2aFailure => new A2aFailure('InvalidRequestError', why)
  if (Array.isArray(value)) throw invalid('A2A has no batches: send one call in a request.')
  if (typeof value !== 'object' || value === null) throw invalid('A call is a JSON object.')
  const call: { jsonrpc?: unknown; id?: unknown; method?: unknown; params?: unknown } = value
  const id = Object.hasOwn(call, 'id') ? idText(call.id, text) : undefined
  if (id === null) throw invalid(`The id must be a string, a number or null, of at most ${maxIdChars} characters.`)
  onId(id ?? 'null')
  if (call.jsonrpc !== '2.0') throw invalid('The member jsonrpc must be "2.0".')
  if (typeof call.method !== 'string') throw invalid('The member method must be a string.')
  if (id === undefined && streaming.has(call.method)) throw invalid('A streaming call needs an id.')
  onId(id)
  return { id, method: call.method, params: call.params ?? {} }
}

function idText(id: unknown, text: string): string | null {
  if (id === null) return 'null'
  if (typeof id === 'string') return id.length <= maxIdChars ? JSON.stringify(id) : null
  if (typeof id !== 'number') return null
  if (Number.isSafeInteger(id) && !Object.is(id, -0)) return String(id)
  // a double cannot hold every number that JSON can write
  const sent = numberAsSent(text, 'id') ?? String(id)
  return sent.length <= maxIdChars ? sent : null
}

async function perform(
  parts: BindingParts,
  exchange: Exchange,
  agent: Aid,
  { id, method, params }: Call,
  extensions: { readonly active: readonly string[]; readonly headers: readonly string[] },
): Promise<Outcome> {
  const { operations } = parts
  switch (method) {
    case 'GetTask':
      return result(await operations.getTask(agent, requestOf('getTask', params)))
    case 'SendMessage': {
      const request = requestOf('sendMessage', params)
      // nobody waits for the outcome of a notification
      const json = await operations.sendMessage(
        agent,
        id === undefined
          ? { ...request, configuration: { ...request.configuration, returnImmediately: true } }
          : request,
        clientSignal(exchange),
      )
      return json === undefined ? { kind: 'gone' } : result(json)
    }
    case 'SendStreamingMessage':
    case 'SubscribeToTask': {
      const key =
        method === 'SubscribeToTask'
          ? operations.taskForStream(agent, requestOf('subscribeToTask', params))
          : await operations.sendForStream(agent, requestOf('sendMessage', params))
      const { active, headers } = extensions
      const wrap = (json: string): string => envelope(id ?? 'null', 'result', json)
      parts.streams.open(exchange, key, { wrap, headers, active })
      return { kind: 'streaming' }
    }
    case 'ListTasks':
      return result(await operations.listTasks(agent, requestOf('listTasks', params)))
    case 'CancelTask':
      return result(await operations.cancelTask(agent, requestOf('cancelTask', params)))
    case 'GetExtendedAgentCard':
      return result(parts.extendedCard(agent))
    case 'CreateTaskPushNotificationConfig':
    case 'GetTaskPushNotificationConfig':
    case 'ListTaskPushNotificationConfigs':
    case 'DeleteTaskPushNotificationConfig':
      throw pushNotSupported()
    default:
      throw new A2aFailure('MethodNotFoundError', 'There is no such method in A2A 1.0.', {
        metadata: { [anetKeys.reason]: 'unknown_method' },
      })
  }
}

function result(json: string): Outcome {
  return { kind: 'result', json }
}
