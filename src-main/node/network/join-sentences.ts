import { type AnetError, isAnetError } from '@shared/errors.ts'
import type { JoinState } from './types.ts'

/** What an attempt to use the hub came to, and what happens next. */
export interface Verdict {
  readonly state: Exclude<JoinState['state'], 'no_hub' | 'joining' | 'joined'>
  readonly sentence: string
  /** `soon`: with backoff. `slowly`: something has to change elsewhere. `never`: somebody has to ask for it. */
  readonly retry: 'soon' | 'slowly' | 'never'
  /** What the hub said about this node's membership, if it said anything. */
  readonly registered: boolean | undefined
}

export const sentences = {
  noHub: 'This node has not joined a hub: use "anet join URL" or the Settings.',
  joining: 'ANet is connecting to the hub.',
  joined: (name: string): string => `Joined the hub ${name}.`,
  waiting: 'The operator of the hub has to admit this agent: ANet asks again every minute.',
  superseded:
    'Another node with this identity is running and has taken over: stop it, then restart this one or join again.',
} as const

/** One sentence for people, what is so and what to do, and how to go on. */
export function judge(error: unknown, hubName: string, registered: boolean): Verdict {
  const verdict = (state: Verdict['state'], retry: Verdict['retry'], sentence: string, member?: boolean): Verdict => ({
    state,
    sentence,
    retry,
    registered: member,
  })
  if (!isAnetError(error)) {
    return verdict('hub_unreachable', 'soon', 'Something failed while connecting to the hub: the node log has it.')
  }
  switch (error.code) {
    case 'invite_required':
      return verdict('refused', 'never', `The hub ${hubName} wants an invite: join it again with one.`, false)
    case 'invite_invalid':
      return verdict('refused', 'never', `The hub ${hubName} does not take this invite: ask for a new one.`, false)
    case 'removed':
      return verdict(
        'removed',
        'never',
        `The operator of the hub ${hubName} removed this agent: ask them, or join another hub.`,
        false,
      )
    case 'waiting_for_admission':
      return verdict('waiting_for_admission', 'slowly', sentences.waiting, false)
    case 'not_member':
      return verdict(
        'hub_unreachable',
        'soon',
        `The hub ${hubName} does not know this agent any more: ANet joins again.`,
        false,
      )
    case 'stale_request':
      return verdict(
        'hub_unreachable',
        'soon',
        `The clock of this computer and that of the hub ${hubName} differ by more than five minutes: set the clock.`,
      )
    case 'rollback':
      return verdict(
        'refused',
        'slowly',
        `The hub ${hubName} holds newer statements of this identity than this node: use the newer copy of it.`,
      )
    case 'fork':
      return verdict(
        'refused',
        'slowly',
        `The hub ${hubName} holds another key history of this identity: somebody else may be using its keys.`,
      )
    case 'hub_wrong_identity':
    case 'hub_version_unknown':
    case 'hub_needs_https':
    case 'hub_url_invalid':
      return verdict('refused', 'slowly', withRemedy(error))
    case 'hub_unreachable':
    case 'rate_limited': {
      const waits = registered ? 'what you send waits until then' : 'nothing can be sent until then'
      return verdict('hub_unreachable', 'soon', `${error.message.replace(/\.$/, '')}: ANet keeps trying, ${waits}.`)
    }
    default:
      return verdict('refused', 'slowly', `The hub ${hubName} refuses this node (${error.code}): ${error.message}`)
  }
}

function withRemedy(error: AnetError): string {
  return error.remedy === undefined ? error.message : `${error.message} ${error.remedy}`
}
