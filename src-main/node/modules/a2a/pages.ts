import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import express, { type ErrorRequestHandler, type Request, type Response } from 'express'
import type { Aid } from '@shared/wire/index.ts'
import type { Log } from '../../ports.ts'
import { isRefusal, type Refusal, refusalJson } from './answer.ts'
import type { SignedCard } from './cards.ts'

export const agentsPath = '/a2a/v1/agents'

export interface PageParts {
  /** JSON of the list for this query, or why not. */
  list(query: string): string | Refusal
  /** The card of a well-formed AID that is not this node's own. */
  card(aid: Aid): Promise<SignedCard>
  /** False for what is no remote agent. */
  isAgent(aid: string): boolean
  readonly log: Log
}

/** The pages beside the two bindings: the list of agents and their cards, for GET and HEAD. Comes after the checks. */
export function createPages(parts: PageParts): (request: IncomingMessage, response: ServerResponse) => void {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.enable('case sensitive routing')
  app.use((_request, response, next) => {
    response.set({
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    })
    next()
  })
  app.route(agentsPath).get((request, response) => {
    const mark = request.url.indexOf('?')
    const listed = parts.list(mark < 0 ? '' : request.url.slice(mark + 1))
    if (isRefusal(listed)) answerRefusal(response, listed)
    else answerCached(request, response, listed, etagOf(listed))
  })
  app
    .route([`${agentsPath}/:aid`, `${agentsPath}/:aid/.well-known/agent-card.json`])
    .all((request, response, next) => {
      if (parts.isAgent(aidOf(request))) next()
      else answerRefusal(response, noSuchAgent)
    })
    .get(async (request, response) => {
      const { json, etag } = await parts.card(aidOf(request))
      answerCached(request, response, json, etag)
    })
  app.use((_request, response) => answerRefusal(response, noSuchPath))
  const onError: ErrorRequestHandler = (error: unknown, _request, response, _next) => {
    const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined
    if (status === 400) {
      answerRefusal(response, { status, message: 'The path is not valid.' })
      return
    }
    parts.log.error({ err: error }, 'a page of the A2A endpoint failed')
    if (response.headersSent) response.destroy()
    else answerRefusal(response, { status: 500, message: 'The node could not handle this request.' })
  }
  app.use(onError)
  return app
}

function aidOf(request: Request): string {
  const aid = request.params['aid']
  return typeof aid === 'string' ? aid : ''
}

export const noSuchAgent: Refusal = { status: 404, message: 'no such agent' }
export const wrongPageMethod: Refusal = { status: 405, message: 'Use GET.', headers: ['Allow', 'GET, HEAD'] }
export const noSuchPath: Refusal = { status: 404, message: 'There is nothing at this path.' }

function answerRefusal(response: Response, refusal: Refusal): void {
  response.status(refusal.status).type('application/json').send(refusalJson(refusal))
}

/** Whether the client's copy is the same is decided by the ETag, which is stable while the content is. */
function answerCached(request: Request, response: Response, json: string, etag: string): void {
  response.set({ 'cache-control': 'private, max-age=300', etag })
  if (matches(request.headers['if-none-match'], etag)) {
    response.status(304).end()
    return
  }
  response.set('content-type', 'application/json').send(Buffer.from(json))
}

function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
}

function etagOf(json: string): string {
  return `"${createHash('sha256').update(json).digest('base64url')}"`
}
