import type { Aid } from '@shared/wire/index.ts'
import { a2aJsonType, answerJson, isRefusal } from './answer.ts'
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
import { A2aFailure, failureOf, statusBodyOf } from './errors.ts'
import { type Exchange, refuse } from './exchange.ts'
import { pushNotSupported } from './operations.ts'
import { queryParameters } from './rest-query.ts'
import { type RestRoute, restRoute } from './rest-routes.ts'

/**
 * The HTTP+JSON binding of A2A 1.0 for one agent. `rest` is the path below `…/rest/`, still percent-encoded; there is no
 * tenant segment. Answers are `application/a2a+json`.
 */
export async function serveRest(parts: BindingParts, exchange: Exchange, agent: Aid, rest: string): Promise<void> {
  const { request, facts } = exchange
  const route = restRoute(request.method ?? '', rest)
  if ('status' in route) {
    refuse(exchange, route)
    return
  }
  if (hasBody(facts) && !isJsonContent(facts)) {
    answerFailure(exchange, contentTypeNotSupported(), [])
    return
  }
  const body = await readBody(exchange)
  if (body === clientGone) return
  if (isRefusal(body)) {
    refuse(exchange, body)
    return
  }
  const { active, headers } = extensionHeaders(exchange)
  try {
    if (!isServedVersion(facts, exchange.query)) throw versionNotSupported()
    const json = await perform(parts, exchange, agent, route, body, { active, headers })
    if (json !== undefined) answerJson(exchange.response, 200, a2aJsonType, json, headers)
  } catch (error) {
    const failure = failureOf(error, (unexpected) =>
      parts.log.error({ err: unexpected }, 'a REST call of the A2A endpoint failed'),
    )
    answerFailure(exchange, failure, headers)
  }
}

function answerFailure(exchange: Exchange, failure: A2aFailure, headers: readonly string[]): void {
  const { http, body } = statusBodyOf(failure)
  const retry = http === 503 ? ['Retry-After', '5'] : []
  refuse(
    exchange,
    { status: http, message: failure.message, headers: [...headers, ...retry] },
    { type: a2aJsonType, json: JSON.stringify(body) },
  )
}

/** The JSON of the answer; undefined if a stream was opened or the client has gone. */
async function perform(
  parts: BindingParts,
  exchange: Exchange,
  agent: Aid,
  route: RestRoute,
  body: Buffer,
  extensions: { readonly active: readonly string[]; readonly headers: readonly string[] },
): Promise<string | undefined> {
  const { operations } = parts
  const { active, headers } = extensions
  const form = { wrap: (json: string): string => json, headers, active }
  switch (route.operation) {
    case 'GetTask': {
      const { historyLength } = queryParameters(exchange.query)
      return operations.getTask(agent, requestOf('getTask', withDefined({ id: route.id }, { historyLength })))
    }
    case 'SendMessage':
      return operations.sendMessage(agent, requestOf('sendMessage', bodyObject(body)), clientSignal(exchange))
    case 'SendStreamingMessage': {
      const key = await operations.sendForStream(agent, requestOf('sendMessage', bodyObject(body)))
      parts.streams.open(exchange, key, form)
      return undefined
    }
    case 'SubscribeToTask': {
      const key = operations.taskForStream(agent, requestOf('subscribeToTask', { id: route.id }))
      parts.streams.open(exchange, key, form)
      return undefined
    }
    case 'ListTasks':
      return operations.listTasks(agent, requestOf('listTasks', queryParameters(exchange.query)))
    case 'CancelTask': {
      const given = body.byteLength === 0 ? {} : bodyObject(body)
      return operations.cancelTask(agent, requestOf('cancelTask', { ...given, id: route.id }))
    }
    case 'GetExtendedAgentCard':
      return parts.extendedCard(agent)
    case 'PushNotificationConfig':
      throw pushNotSupported()
  }
}

function bodyObject(body: Buffer): Record<string, unknown> {
  const value = parseJson(textOf(body))
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new A2aFailure('InvalidParamsError', 'The body must be a JSON object.', {
      violations: [{ field: '', description: 'must be a JSON object' }],
    })
  }
  return { ...value }
}

function withDefined(base: Record<string, unknown>, more: Record<string, unknown>): Record<string, unknown> {
  for (const [name, value] of Object.entries(more)) if (value !== undefined) base[name] = value
  return base
}
