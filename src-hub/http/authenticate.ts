import type { IncomingMessage } from 'node:http'
import {
  type Aid,
  authHeader,
  checkHubRequestClaims,
  equalBytes,
  type HubRequest,
  hubRequestSignature,
  type OpenHubRequest,
  readHubRequest,
} from '@shared/wire/index.ts'
import { HubError } from '../errors.ts'
import type { HubParts } from '../parts.ts'
import { type MemberKey, seenStep } from '../store/index.ts'
import { verifyOffThread } from '../verify.ts'

type Parts = Pick<HubParts, 'identity' | 'clock' | 'store' | 'log'>

/** Reads who asks for what; nothing is checked yet. Error: `bad_signature`. */
export function openRequest(incoming: IncomingMessage): OpenHubRequest {
  const header = incoming.headers[authHeader]
  if (typeof header !== 'string' || header === '') {
    throw new HubError('bad_signature', `This request has no "${authHeader}" header.`)
  }
  return readHubRequest(header)
}

/**
 * Checks everything of a request but its body and its nonce. One of `keys` has to have signed it. Errors:
 * `bad_signature`, `stale_request`.
 */
export async function checkRequest(
  parts: Parts,
  incoming: IncomingMessage,
  path: string,
  open: OpenHubRequest,
  keys: readonly Uint8Array[],
): Promise<void> {
  const { identity, clock, store } = parts
  checkHubRequestClaims(open, { hub: identity.aid, now: clock.now(), method: incoming.method ?? '', path })
  if (open.request.time <= store.nonceFloor()) {
    throw new HubError('stale_request', 'The time of this request is too long ago. Check the clock.')
  }
  const signed = hubRequestSignature(open)
  for (const key of signed === undefined ? [] : keys) {
    if (signed !== undefined && (await verifyOffThread(key, signed.data, signed.signature))) return
  }
  throw new HubError('bad_signature', 'The signature of this request does not fit it.')
}

/**
 * Checks a member's request before its body is read: only the key in use counts, since the hub has learned of every
 * rotation that it accepted. Errors: `not_member`, `waiting_for_admission`, `removed`, `bad_signature`, `stale_request`.
 */
export async function authenticateMember(parts: Parts, incoming: IncomingMessage, path: string): Promise<HubRequest> {
  const open = openRequest(incoming)
  const member = await parts.store.memberKey(open.request.aid)
  if (member === undefined) throw notMember()
  await checkRequest(parts, incoming, path, open, keyInUse(member, open.request))
  requireStanding(member)
  noteSeen(parts, member)
  return open.request
}

/** The member's key, if it is the one that the request says it is signed with. */
export function keyInUse(member: MemberKey, request: HubRequest): readonly Uint8Array[] {
  return member.key !== null && member.ksn === request.ksn ? [member.key] : []
}

export function notMember(): HubError {
  return new HubError('not_member', 'This agent is not a member of the hub. It has to join first.')
}

export function requireStanding(member: MemberKey): void {
  if (member.state === 'removed') {
    throw new HubError('removed', 'The operator of this hub removed this agent.')
  }
  if (member.state === 'waiting') {
    throw new HubError('waiting_for_admission', 'The operator of this hub has not admitted this agent yet.')
  }
}

/** The body has to be the one that was signed. Error: `bad_signature`. */
export function checkBody(request: HubRequest, hash: Uint8Array): void {
  if (!equalBytes(request.body, hash)) {
    throw new HubError('bad_signature', 'The body of this request is not the one that was signed.')
  }
}

/** Error: `replayed_request`. */
export async function useNonce(parts: Parts, request: HubRequest): Promise<void> {
  if (!(await parts.store.useNonce(request))) throw new HubError('replayed_request', 'This request was used before.')
}

function noteSeen(parts: Parts, member: { aid: Aid; lastSeen: number }): void {
  const now = parts.clock.now()
  if (now - member.lastSeen < seenStep) return
  parts.store.touch(member.aid, now).catch((error: unknown) => {
    parts.log.warn({ err: error }, 'The presence of an agent could not be noted')
  })
}
