import { createHash } from 'node:crypto'
import type { z } from 'zod'
import { type Aid, type joinRequestSchema, type publishRequestSchema } from '@shared/wire/index.ts'
import { HubError } from '../errors.ts'
import type { HubLimits, HubLog, HubPolicy } from '../options.ts'
import type { HubStore, MemberRecord, MemberState } from '../store/index.ts'
import { Contradiction, mergeStatements } from './statements.ts'

export interface Membership {
  /** Takes an agent in, or says that it waits. The request's signature has been checked against the given history. */
  join(aid: Aid, request: z.infer<typeof joinRequestSchema>, now: number): Promise<{ state: 'member' | 'waiting' }>
  publish(aid: Aid, request: z.infer<typeof publishRequestSchema>, now: number): Promise<void>
}

/** Attempts before a write that others keep overtaking is given up. */
const maxAttempts = 5

export function createMembership(parts: {
  store: HubStore
  policy: HubPolicy
  limits: HubLimits
  log: HubLog
  fault: (point: string) => void
}): Membership {
  const { store, policy, limits, log, fault } = parts

  const keepFork = async (error: unknown) => {
    if (!(error instanceof Contradiction) || error.fork === undefined) return
    await store.addFork(error.fork)
    log.warn({ aid: error.fork.aid, kind: error.fork.kind, seq: error.fork.seq }, 'An agent contradicts itself')
  }

  const retry = async <T>(attempt: () => Promise<T | undefined>): Promise<T> => {
    for (let tries = 0; tries < maxAttempts; tries += 1) {
      try {
        const result = await attempt()
        if (result !== undefined) return result
      } catch (error) {
        await keepFork(error)
        throw error
      }
    }
    throw new HubError('internal', 'Too many changes to this agent at once. Try again.')
  }

  return {
    join: (aid, request, now) =>
      retry(async () => {
        const known = await store.member(aid)
        const { state, invite } = decide(policy, known, request.invite)
        if (known === undefined) await checkRoom(store, limits, state)
        const merged = mergeStatements(known, request, now)
        const saved = await store.saveMember(
          { ...merged, state },
          { expected: known?.version, at: now, ...(invite === undefined ? {} : { invite }) },
        )
        if (saved === 'conflict') return undefined
        if (saved === 'invite_invalid') {
          throw new HubError('invite_invalid', 'This invite is unknown, used or expired. Ask the operator for another.')
        }
        fault('hub.join.committed')
        if (known?.state !== state) log.info({ aid, state }, 'An agent joined')
        return { state }
      }),
    publish: (aid, request, now) =>
      retry(async () => {
        const known = await store.member(aid)
        if (known === undefined) throw new HubError('not_member', 'This agent is not a member of the hub.')
        const merged = mergeStatements(known, request, now)
        const saved = await store.saveMember({ ...merged, state: known.state }, { expected: known.version, at: now })
        if (saved !== 'saved') return undefined
        fault('hub.publish.committed')
        return true
      }).then(() => {}),
  }
}

/** The name under which an invite is stored: the hub keeps no invite that somebody could use. */
export function inviteHash(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

function decide(
  policy: HubPolicy,
  known: MemberRecord | undefined,
  invite: string | undefined,
): { state: 'member' | 'waiting'; invite: string | undefined } {
  if (known?.state === 'removed') {
    throw new HubError('removed', 'The operator of this hub removed this agent.')
  }
  if (known?.state === 'member' || policy === 'open') return { state: 'member', invite: undefined }
  if (policy === 'admit') return { state: 'waiting', invite: undefined }
  if (invite === undefined) {
    throw new HubError('invite_required', 'This hub takes in agents with an invite. Ask its operator for one.')
  }
  return { state: 'member', invite: inviteHash(invite) }
}

async function checkRoom(store: HubStore, limits: HubLimits, state: MemberState): Promise<void> {
  const max = state === 'waiting' ? limits.waiting : limits.members
  if ((await store.count(state)) >= max) {
    throw new HubError('rate_limited', 'This hub is full. Its operator can make room.', { retryAfter: 3600 })
  }
}
