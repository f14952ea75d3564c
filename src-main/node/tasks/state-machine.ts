import { isInterrupted, isTerminal, type TaskState } from '@shared/a2a/index.ts'

/** What one of the two sides does to a task. Both nodes judge it by the same rules, whichever of them it comes from. */
export type Cause =
  | { readonly by: 'requester'; readonly what: 'message' | 'cancel' }
  | { readonly by: 'provider'; readonly what: 'artifact' }
  | { readonly by: 'provider'; readonly what: 'status'; readonly state: TaskState }

/**
 * `apply`: it counts; `state` is the state that follows, absent if the state stays as it is.
 * `late`: the task had ended before; nothing changes, that it came is recorded.
 * `refused`: this side may not cause that; it is refused with the code.
 */
export type Verdict =
  | { readonly kind: 'apply'; readonly state?: TaskState }
  | { readonly kind: 'late' }
  | { readonly kind: 'refused'; readonly code: 'task_terminal' | 'state_not_allowed'; readonly why: string }

/**
 * The one state machine of tasks, for both directions (A2A 1.0, Life of a Task):
 *
 * - Terminal is final. What the provider sends after it is late, and so is a cancel: the two crossed. A message of the
 *   requester is refused, because it asks for something that nobody will do.
 * - Only the provider moves a task on. It may go from any open state to any other, except back from WORKING to
 *   SUBMITTED: work that began cannot become work that has not begun.
 * - A message of the requester leaves SUBMITTED and WORKING as they are. It answers INPUT_REQUIRED and AUTH_REQUIRED:
 *   both sides then hold the task as SUBMITTED, handed over again, until the provider says what it does with it. So a
 *   question that was answered is not mistaken for one that waits.
 * - A cancel is a request: the state stays until the provider decides it. A completion that crosses it wins.
 * - Artifacts change no state.
 */
export function judge(state: TaskState, cause: Cause): Verdict {
  if (isTerminal(state)) {
    if (cause.what !== 'message') return { kind: 'late' }
    return { kind: 'refused', code: 'task_terminal', why: 'The task has ended: nothing can be added to it.' }
  }
  switch (cause.what) {
    case 'message':
      return isInterrupted(state) ? { kind: 'apply', state: 'TASK_STATE_SUBMITTED' } : { kind: 'apply' }
    case 'cancel':
    case 'artifact':
      return { kind: 'apply' }
    case 'status':
      if (state === 'TASK_STATE_WORKING' && cause.state === 'TASK_STATE_SUBMITTED') {
        return {
          kind: 'refused',
          code: 'state_not_allowed',
          why: 'A task that is being worked on does not become a submitted one again.',
        }
      }
      return { kind: 'apply', state: cause.state }
  }
}
