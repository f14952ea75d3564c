import { describe, expect, it } from 'vitest'
import { isInterrupted, isTerminal, taskStates } from '@shared/a2a/index.ts'
import { judge } from '../../../src-main/node/tasks/state-machine.ts'

const open = taskStates.filter((state) => !isTerminal(state))
const ended = taskStates.filter(isTerminal)

describe('statuses of the provider', () => {
  for (const from of open) {
    for (const to of taskStates) {
      const allowed = !(from === 'TASK_STATE_WORKING' && to === 'TASK_STATE_SUBMITTED')
      it(`${allowed ? 'move' : 'do not move'} ${from} to ${to}`, () => {
        const verdict = judge(from, { by: 'provider', what: 'status', state: to })
        expect(verdict).toMatchObject(
          allowed ? { kind: 'apply', state: to } : { kind: 'refused', code: 'state_not_allowed' },
        )
      })
    }
  }

  it.each(ended.flatMap((from) => taskStates.map((to) => [from, to] as const)))(
    'come late after %s: %s',
    (from, to) => {
      expect(judge(from, { by: 'provider', what: 'status', state: to })).toEqual({ kind: 'late' })
    },
  )
})

describe('messages of the requester', () => {
  it.each(open)('are taken in %s', (state) => {
    const verdict = judge(state, { by: 'requester', what: 'message' })
    // an answer hands the task over again; anything else leaves it where it is
    expect(verdict).toEqual(isInterrupted(state) ? { kind: 'apply', state: 'TASK_STATE_SUBMITTED' } : { kind: 'apply' })
  })

  it.each(ended)('are refused in %s', (state) => {
    expect(judge(state, { by: 'requester', what: 'message' })).toMatchObject({ kind: 'refused', code: 'task_terminal' })
  })
})

describe('cancels and artifacts', () => {
  it.each(open)('change no state in %s', (state) => {
    expect(judge(state, { by: 'requester', what: 'cancel' })).toEqual({ kind: 'apply' })
    expect(judge(state, { by: 'provider', what: 'artifact' })).toEqual({ kind: 'apply' })
  })

  it.each(ended)('come late in %s', (state) => {
    expect(judge(state, { by: 'requester', what: 'cancel' })).toEqual({ kind: 'late' })
    expect(judge(state, { by: 'provider', what: 'artifact' })).toEqual({ kind: 'late' })
  })
})
