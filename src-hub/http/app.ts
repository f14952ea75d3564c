import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import type { z } from 'zod'
import {
  acknowledgeRequestSchema,
  decodeCbor,
  encodeCbor,
  type HubInfo,
  hubPaths,
  type HubRequest,
  joinRequestSchema,
  limits as wireLimits,
  lookupRequestSchema,
  parseStatement,
  pollRequestSchema,
  publishRequestSchema,
  searchRequestSchema,
  verifyHistory,
} from '@shared/wire/index.ts'
import { crypto } from '../crypto.ts'
import { encodeRecord, searchDirectory } from '../directory.ts'
import { HubError } from '../errors.ts'
import { acknowledge } from '../mailbox/acknowledge.ts'
import { mailIds } from '../mailbox/frames.ts'
import { type OpenPolls, poll } from '../mailbox/poll.ts'
import type { HubParts } from '../parts.ts'
import { joinRaw } from '../raw-cbor.ts'
import type { RateLimit } from '../rate-limit.ts'
import type { MemberKey } from '../store/index.ts'
import { answerError, sendCbor } from './answer.ts'
import {
  authenticateMember,
  checkBody,
  checkRequest,
  keyInUse,
  notMember,
  openRequest,
  requireStanding,
  useNonce,
} from './authenticate.ts'
import { readBody } from './body.ts'

export interface RateLimits {
  readonly sends: RateLimit
  readonly requests: RateLimit
  readonly addresses: RateLimit
}

/** The hub's HTTP API (src-shared/wire/hub-api.ts). */
export function createHubApp(parts: HubParts, rates: RateLimits, polls: OpenPolls): Express {
  const { store, clock, limits, identity, membership } = parts
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('case sensitive routing', true)
  app.set('strict routing', true)
  const bodyLimits = { maxBytes: wireLimits.request.bodyBytes, idle: limits.bodyIdle }

  /** A member's request with a body of the given form; its nonce is used up. */
  const receive = async <S extends z.ZodObject>(request: Request, schema: S) => {
    const signed = await authenticateMember(parts, request, request.originalUrl)
    rates.requests.take(signed.aid)
    const { body, hash } = await readBody(request, bodyLimits)
    checkBody(signed, hash)
    await useNonce(parts, signed)
    return { aid: signed.aid, body: parseBody(schema, body) }
  }

  app.use((request, response, next) => {
    response.once('finish', () => {
      const route = request.route as { path?: string } | undefined
      parts.metrics.request(route?.path ?? 'none', response.statusCode)
    })
    next()
  })

  app.get(hubPaths.info, (request, response) => {
    rates.addresses.take(request.socket.remoteAddress ?? '')
    const info: HubInfo = {
      versions: [1],
      aid: identity.aid,
      name: parts.name,
      history: [...identity.history] as HubInfo['history'],
      policy: parts.policy,
      time: clock.now(),
      limits: {
        envelopeBytes: limits.envelopeBytes,
        mailboxMessages: limits.mailboxMessages,
        mailboxBytes: limits.mailboxBytes,
        ratePerSecond: limits.ratePerSecond,
        rateBurst: limits.rateBurst,
      },
    }
    sendCbor(response, encodeCbor(info))
  })

  app.post(hubPaths.join, async (request, response) => {
    rates.addresses.take(request.socket.remoteAddress ?? '')
    const open = openRequest(request)
    const { body, hash } = await readBody(request, bodyLimits)
    checkBody(open.request, hash)
    const given = parseBody(joinRequestSchema, body)
    const history = verifyHistory(crypto, given.history, open.request.aid)
    const keys = history.key !== null && history.seq === open.request.ksn ? [history.key] : []
    await checkRequest(parts, request, request.originalUrl, open, keys)
    await useNonce(parts, open.request)
    sendCbor(response, encodeCbor(await membership.join(open.request.aid, given, clock.now())))
  })

  app.post(hubPaths.publish, async (request, response) => {
    const open = openRequest(request)
    const member = await store.memberKey(open.request.aid)
    if (member === undefined) throw notMember()
    rates.addresses.take(request.socket.remoteAddress ?? '')
    const { body, hash } = await readBody(request, bodyLimits)
    checkBody(open.request, hash)
    const given = parseBody(publishRequestSchema, body)
    await checkRequest(parts, request, request.originalUrl, open, publishKeys(member, open.request, given))
    requireStanding(member)
    rates.requests.take(member.aid)
    await useNonce(parts, open.request)
    await membership.publish(member.aid, given, clock.now())
    sendCbor(response, encodeCbor({}))
  })

  app.post(hubPaths.search, async (request, response) => {
    const { body } = await receive(request, searchRequestSchema)
    sendCbor(response, joinRaw(await searchDirectory(store, body, clock.now())))
  })

  app.post(hubPaths.lookup, async (request, response) => {
    const { body } = await receive(request, lookupRequestSchema)
    const agent = await store.member(body.aid)
    if (agent === undefined || agent.state !== 'member') {
      throw new HubError('unknown_agent', 'No agent with this AID is a member of this hub.')
    }
    sendCbor(response, joinRaw(encodeRecord(agent, clock.now())))
  })

  app.post(hubPaths.poll, async (request, response) => {
    const { aid, body } = await receive(request, pollRequestSchema)
    await poll(parts, polls, aid, body, response)
  })

  app.post(hubPaths.acknowledge, async (request, response) => {
    const { aid, body } = await receive(request, acknowledgeRequestSchema)
    await acknowledge(parts, aid, mailIds(body.ids))
    sendCbor(response, encodeCbor({}))
  })

  app.use(() => {
    throw new HubError('not_found', 'This hub has no such address. Its API begins at /hub/v1.')
  })
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    answerError(parts, response, error)
  })
  return app
}

function parseBody<S extends z.ZodObject>(schema: S, body: Uint8Array): z.infer<S> {
  return parseStatement(schema, decodeCbor(body, wireLimits.request.bodyBytes))
}

/**
 * A publication is signed by the key in use, or by that of the longer history it brings: after an emergency rotation
 * the key before is not to be had. Also the key of a contradicting history is heard: it only proves the fork.
 */
function publishKeys(
  member: MemberKey,
  request: HubRequest,
  given: z.infer<typeof publishRequestSchema>,
): readonly Uint8Array[] {
  const keys = [...keyInUse(member, request)]
  if (given.history !== undefined) {
    const history = verifyHistory(crypto, given.history, member.aid)
    const newest = history.statements[request.ksn]
    if (request.ksn === history.seq && newest !== undefined) keys.push(newest.key)
  }
  return keys
}
