import { isTerminal, type TaskState } from '@shared/a2a/index.ts'

/**
 * One state machine for both directions. The provider owns the state: it alone moves a task, by its status messages.
 * The requester moves nothing but its own view before the provider has answered, and asks (message, cancel).
 *
 * - A terminal state is final. What the provider says afterwards is recorded as late and changes no state, so that a
 *   completion never overwrites a cancellation and the other way round: whichever the provider signed first counts.
 * - Between the states that are not terminal every step is allowed: agents go back from a question to work and may ask
 *   again. A step from one state to the same is allowed if it brings a message.
 * - No state leads back to SUBMITTED but an answer of the requester that is still on its way.
 */
export type Verdict = 'apply' | 'late' | 'refuse'

/** What becomes of a status that the provider announces. */
export function providerStatus(current: TaskState, next: TaskState): Verdict {
  if (isTerminal(current)) return 'late'
  return next === 'TASK_STATE_SUBMITTED' ? 'refuse' : 'apply'
}

/** Artifacts of a finished task are kept beside it (a late result), they change no state. */
export function providerArtifact(current: TaskState): Verdict {
  return isTerminal(current) ? 'late' : 'apply'
}

/** Whether the requester may add a message. */
export function requesterMessage(current: TaskState): Verdict {
  return isTerminal(current) ? 'refuse' : 'apply'
}

/** The state that the requester sees once its answer is on the way: the question is answered. */
export function afterAnswer(current: TaskState): TaskState {
  return current === 'TASK_STATE_INPUT_REQUIRED' || current === 'TASK_STATE_AUTH_REQUIRED'
    ? 'TASK_STATE_SUBMITTED'
    : current
}
