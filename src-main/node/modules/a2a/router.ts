import type { Aid } from '@shared/wire/index.ts'
import type { BindingParts } from './binding.ts'
import { hasBody } from '../../loopback/index.ts'
import { type Exchange, refuse } from './exchange.ts'
import { serveJsonRpc } from './jsonrpc.ts'
import { agentsPath, createPages, noSuchAgent, noSuchPath, type PageParts, wrongPageMethod } from './pages.ts'
import { serveRest } from './rest.ts'

const prefix = `${agentsPath}/`

/**
 * Routes below /a2a/v1/agents: the two bindings are matched here, on the hot path; list and cards are pages. The AID is
 * looked at before anything of a binding: where there is no agent there is no binding.
 */
export function createRouter(parts: PageParts & BindingParts): (exchange: Exchange) => void | Promise<void> {
  const pages = createPages(parts)
  return (exchange) => {
    const binding = bindingPath(exchange.path)
    if (binding === undefined) {
      const { request } = exchange
      if (request.method !== 'GET' && request.method !== 'HEAD') refusePage(parts, exchange)
      else if (hasBody(exchange.facts)) refuse(exchange, { status: 400, message: 'This path takes no body.' })
      else pages(request, exchange.response)
      return undefined
    }
    const { aid, rest } = binding
    if (!parts.isAgent(aid)) {
      refuse(exchange, noSuchAgent)
      return undefined
    }
    return rest === undefined ? serveJsonRpc(parts, exchange, aid) : serveRest(parts, exchange, aid, rest)
  }
}

/** `rest`: what follows `/rest/`; undefined for the JSON-RPC binding. */
function bindingPath(path: string): { readonly aid: Aid; readonly rest: string | undefined } | undefined {
  if (!path.startsWith(prefix)) return undefined
  const slash = path.indexOf('/', prefix.length)
  if (slash < 0) return undefined
  const tail = path.slice(slash)
  const isRpc = tail === '/jsonrpc' || tail === '/jsonrpc/'
  if (!isRpc && !tail.startsWith('/rest/')) return undefined
  const aid = decoded(path.slice(prefix.length, slash))
  return { aid, rest: isRpc ? undefined : tail.slice('/rest/'.length) }
}

function decoded(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** Another method on a page: 405 where there is one, else 404. */
function refusePage(parts: PageParts, exchange: Exchange): void {
  const path = exchange.path.endsWith('/') ? exchange.path.slice(0, -1) : exchange.path
  const card = /^\/a2a\/v1\/agents\/([^/]+)(?:\/\.well-known\/agent-card\.json)?$/.exec(path)
  if (path === agentsPath || (card !== null && parts.isAgent(decoded(card[1] ?? '')))) {
    refuse(exchange, wrongPageMethod)
  } else {
    refuse(exchange, card === null ? noSuchPath : noSuchAgent)
  }
}
