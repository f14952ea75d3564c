import { randomBytes } from 'node:crypto'
import type { Server } from 'node:http'
import express, { type NextFunction, type Request, type Response } from 'express'
import { z } from 'zod'
import { aidSchema, encodeBase64Url } from '@shared/wire/index.ts'
import { asHubError, HubError } from '../errors.ts'
import { createHubServer } from '../http/server.ts'
import { createInvite } from '../invites.ts'
import type { OpenPolls } from '../mailbox/poll.ts'
import type { MailboxSessions } from '../mailbox/sessions.ts'
import type { HubParts } from '../parts.ts'
import { prometheusText } from './prometheus.ts'
import { TokenGuard } from './token-guard.ts'

const inviteSchema = z.strictObject({
  validFor: z
    .int()
    .min(1000)
    .max(366 * 24 * 60 * 60_000)
    .exactOptional(),
})
const membersSchema = z.strictObject({
  state: z.enum(['member', 'waiting', 'removed']).exactOptional(),
  after: aidSchema.exactOptional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
})
const aidParams = z.object({ aid: aidSchema })
const maxForks = 100

/** The operator's listener: health and metrics for whoever is on this machine, control for who has the token. */
export function createAdmin(
  parts: HubParts,
  sessions: MailboxSessions,
  polls: OpenPolls,
): { server: Server; token: string } {
  const token = randomBytes(32).toString('hex')
  const guard = new TokenGuard(token)
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.use((request, response, next) => {
    response.set({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
    // a web page that points a name of its own at this address comes with that name
    const host = (request.headers.host ?? '').replace(/:\d+$/, '')
    if (host !== '127.0.0.1' && host !== 'localhost') throw new HubError('bad_request', 'Use 127.0.0.1 or localhost.')
    next()
  })

  app.get('/healthz', (_request, response) => {
    response.type('text/plain').send('ok\n')
  })
  app.get('/readyz', async (_request, response) => {
    try {
      await parts.store.check()
      response.type('text/plain').send('ready\n')
    } catch (error) {
      parts.log.error({ err: error }, 'The store cannot write')
      response.status(503).type('text/plain').send('the store cannot write\n')
    }
  })
  app.get('/metrics', async (_request, response) => {
    response.set('content-type', 'text/plain; version=0.0.4; charset=utf-8')
    response.send(
      prometheusText(parts.metrics, await parts.store.totals(), { sessions: sessions.size, polls: polls.size }),
    )
  })

  app.use('/admin/v1', control(parts, sessions, guard))
  app.use(() => {
    throw new HubError('not_found', 'There is nothing at this address.')
  })
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    const hubError = isBodyError(error) ? new HubError('bad_request', 'The body is not JSON.') : asHubError(error)
    if (hubError.code === 'internal') parts.log.error({ err: error }, 'An admin request failed')
    if (hubError.retryAfter !== undefined) response.set('retry-after', String(hubError.retryAfter))
    response.status(hubError.status).json({ error: { code: hubError.code, message: hubError.message } })
  })
  return { server: createHubServer(app), token }
}

function control(parts: HubParts, sessions: MailboxSessions, guard: TokenGuard): express.Router {
  const { store, bus, identity, log } = parts
  const router = express.Router()
  router.use((request, _response, next) => {
    const given = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1]
    const verdict = guard.check(given)
    if (verdict === 'wrong') {
      throw new HubError('bad_signature', 'Show the token of hub_admin_token.txt as "Authorization: Bearer …".')
    }
    if (verdict !== 'right') {
      throw new HubError('rate_limited', 'Too many wrong tokens.', { retryAfter: verdict.retryAfter })
    }
    next()
  })
  router.use(express.json({ limit: '16kb', type: () => true }))

  router.get('/status', async (_request, response) => {
    response.json({
      aid: identity.aid,
      name: parts.name,
      policy: parts.policy,
      sessions: sessions.size,
      ...(await store.totals()),
    })
  })
  router.post('/invites', async (request, response) => {
    const { validFor } = read(inviteSchema, request.body ?? {})
    const invite = await createInvite(parts, validFor)
    log.info({ expiresAt: invite.expiresAt }, 'An invite was made')
    response.status(201).json({ invite: invite.token, hub: identity.aid, expiresAt: invite.expiresAt })
  })
  router.get('/members', async (request, response) => {
    const query = read(membersSchema, request.query)
    const members = await store.listMembers(query)
    const next = members.length === query.limit ? members.at(-1)?.aid : undefined
    response.json({ members, ...(next === undefined ? {} : { next }) })
  })
  router.post('/members/:aid/admit', async (request, response) => {
    const { aid } = read(aidParams, request.params)
    if (!(await store.setState(aid, 'member'))) throw unknownMember()
    log.info({ aid }, 'An agent was admitted')
    response.json({ aid, state: 'member' })
  })
  router.post('/members/:aid/remove', async (request, response) => {
    const { aid } = read(aidParams, request.params)
    const deleted = await store.removeMember(aid)
    if (deleted === undefined) throw unknownMember()
    parts.shares.release(deleted)
    bus.publish(aid, { type: 'removed' })
    log.info({ aid }, 'An agent was removed')
    response.json({ aid, state: 'removed', deletedMessages: deleted.length })
  })
  router.get('/forks', async (_request, response) => {
    const forks = await store.listForks(maxForks)
    response.json({
      forks: forks.map((fork) => ({
        ...fork,
        known: encodeBase64Url(new Uint8Array(fork.known)),
        other: encodeBase64Url(new Uint8Array(fork.other)),
      })),
    })
  })
  return router
}

function read<S extends z.ZodType>(schema: S, value: unknown): z.infer<S> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new HubError('bad_request', `Field "${issue?.path.join('.') ?? ''}": ${issue?.message ?? 'unreadable'}.`)
}

function isBodyError(error: unknown): boolean {
  return error instanceof Error && 'type' in error && String(error.type).startsWith('entity.')
}

function unknownMember(): HubError {
  return new HubError('unknown_agent', 'The hub knows no agent with this AID.')
}
