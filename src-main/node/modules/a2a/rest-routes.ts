import type { Refusal } from './answer.ts'

export type RestRoute =
  | { readonly operation: 'SendMessage' | 'SendStreamingMessage' | 'ListTasks' | 'GetExtendedAgentCard' }
  | { readonly operation: 'GetTask' | 'CancelTask' | 'SubscribeToTask'; readonly id: string }
  | { readonly operation: 'PushNotificationConfig' }

const notFound: Refusal = { status: 404, message: 'There is nothing at this path.' }
const wrongMethod = (allow: string): Refusal => ({ status: 405, message: `Use ${allow}.`, headers: ['Allow', allow] })

/**
 * Finds the operation of a path below `…/rest/`. Segments are percent-decoded after they are separated, so an encoded id,
 * or a client that encodes the colon of a verb, is understood. A trailing slash is accepted.
 */
export function restRoute(method: string, rest: string): RestRoute | Refusal {
  const [first, second, third, fourth, ...more] = segments(rest) ?? []
  if (first === undefined || more.length > 0) return notFound
  if (second === undefined) {
    switch (first) {
      case 'message:send':
        return method === 'POST' ? { operation: 'SendMessage' } : wrongMethod('POST')
      case 'message:stream':
        return method === 'POST' ? { operation: 'SendStreamingMessage' } : wrongMethod('POST')
      case 'extendedAgentCard':
        return method === 'GET' ? { operation: 'GetExtendedAgentCard' } : wrongMethod('GET')
      case 'tasks':
        return method === 'GET' ? { operation: 'ListTasks' } : wrongMethod('GET')
      default:
        return notFound
    }
  }
  if (first !== 'tasks' || second === '') return notFound
  if (third === undefined) return taskRoute(method, second)
  if (third !== 'pushNotificationConfigs') return notFound
  const allowed = fourth === undefined ? ['GET', 'POST'] : ['GET', 'DELETE']
  return allowed.includes(method) ? { operation: 'PushNotificationConfig' } : wrongMethod(allowed.join(', '))
}

function taskRoute(method: string, segment: string): RestRoute | Refusal {
  if (segment.endsWith(':cancel')) {
    const id = segment.slice(0, -':cancel'.length)
    return method === 'POST' ? { operation: 'CancelTask', id } : wrongMethod('POST')
  }
  if (segment.endsWith(':subscribe')) {
    const id = segment.slice(0, -':subscribe'.length)
    return method === 'GET' || method === 'POST' ? { operation: 'SubscribeToTask', id } : wrongMethod('GET, POST')
  }
  return method === 'GET' ? { operation: 'GetTask', id: segment } : wrongMethod('GET')
}

function segments(path: string): readonly string[] | undefined {
  const trimmed = path.endsWith('/') ? path.slice(0, -1) : path
  const parts = trimmed.split('/')
  if (!trimmed.includes('%')) return parts
  try {
    return parts.map(decodeURIComponent)
  } catch {
    return undefined
  }
}
