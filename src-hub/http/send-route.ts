import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Aid, encodeCbor, hubPaths } from '@shared/wire/index.ts'
import { HubError } from '../errors.ts'
import { send } from '../mailbox/send.ts'
import type { HubParts } from '../parts.ts'
import { answerError, sendCbor } from './answer.ts'
import type { RateLimits } from './app.ts'
import { authenticateMember } from './authenticate.ts'

const storedAnswer = encodeCbor({ stored: true })
const handedOverAnswer = encodeCbor({ stored: false })

/** Whether a request is one that {@link createSendRoute} answers. */
export function isSend(request: IncomingMessage): boolean {
  const { method, url = '' } = request
  return method === 'POST' && (url === hubPaths.send || url.startsWith(`${hubPaths.send}?`))
}

/** The route that every message takes. It stands before Express, which would cost as much as all the rest of it. */
export function createSendRoute(
  parts: HubParts,
  rates: RateLimits,
): (request: IncomingMessage, response: ServerResponse) => void {
  const underWay = new Map<Aid, number>()

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? ''
    const signed = await authenticateMember(parts, request, path)
    rates.sends.take(signed.aid)
    const others = underWay.get(signed.aid) ?? 0
    if (others >= parts.limits.concurrentBodies) {
      const most = parts.limits.concurrentBodies
      throw new HubError('rate_limited', `At most ${most} envelopes of one agent at a time.`, { retryAfter: 1 })
    }
    underWay.set(signed.aid, others + 1)
    try {
      const { stored } = await send(parts, request, signed, isEphemeral(path))
      sendCbor(response, stored ? storedAnswer : handedOverAnswer)
    } finally {
      const left = (underWay.get(signed.aid) ?? 1) - 1
      if (left === 0) underWay.delete(signed.aid)
      else underWay.set(signed.aid, left)
    }
  }

  return (request, response) => {
    answer(request, response)
      .catch((error: unknown) => answerError(parts, response, error))
      .finally(() => parts.metrics.request(hubPaths.send, response.statusCode))
  }
}

function isEphemeral(path: string): boolean {
  const query = path.slice(hubPaths.send.length + 1)
  return query !== '' && new URLSearchParams(query).get('ephemeral') === '1'
}
