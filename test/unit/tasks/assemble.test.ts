import { describe, expect, it } from 'vitest'
import type { TaskState } from '@shared/a2a/index.ts'
import { applyEntry, type Contents, noContents } from '../../../src-main/node/tasks/assemble.ts'
import type { StoredMessage, TaskEntry } from '../../../src-main/node/tasks/index.ts'

function assembled(entries: readonly DistributiveOmit<TaskEntry, 'seq' | 'at'>[]): Contents {
  return entries.reduce(
    (contents, entry, seq) => applyEntry(contents, { ...entry, seq, at: seq } as TaskEntry),
    noContents,
  )
}
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

function says(text: string, role: StoredMessage['role'] = 'ROLE_AGENT'): StoredMessage {
  return { messageId: text, role, parts: [{ text }] }
}

function status(state: TaskState, message?: StoredMessage): DistributiveOmit<TaskEntry, 'seq' | 'at'> {
  return { kind: 'status', status: { state, ...(message === undefined ? {} : { message }) } }
}

function asks(text: string): DistributiveOmit<TaskEntry, 'seq' | 'at'> {
  return { kind: 'message', from: 'requester', message: says(text, 'ROLE_USER') }
}

function artifact(id: string, text: string, append = false): DistributiveOmit<TaskEntry, 'seq' | 'at'> {
  return { kind: 'artifact', artifact: { artifactId: id, parts: [{ text }] }, append, lastChunk: true }
}

describe('the history of a task', () => {
  it('holds what was said in the order in which it was said, and the newest status message apart', () => {
    const { history, statusMessage } = assembled([
      asks('a'),
      status('TASK_STATE_WORKING', says('b')),
      status('TASK_STATE_INPUT_REQUIRED', says('c')),
      asks('d'),
      status('TASK_STATE_SUBMITTED'),
      status('TASK_STATE_COMPLETED', says('e')),
    ])
    expect(history.map(({ messageId }) => messageId)).toEqual(['a', 'b', 'c', 'd'])
    expect(statusMessage?.messageId).toBe('e')
  })

  it('is not changed by a cancel', () => {
    const before = assembled([asks('a'), status('TASK_STATE_WORKING', says('b'))])
    expect(applyEntry(before, { kind: 'cancel', seq: 9, at: 9 })).toBe(before)
  })
})

describe('artifacts', () => {
  it('grow by what is appended to them', () => {
    const { artifacts } = assembled([artifact('a', '1'), artifact('b', 'x'), artifact('a', '2', true)])
    expect(artifacts).toEqual([
      { artifactId: 'a', parts: [{ text: '1' }, { text: '2' }] },
      { artifactId: 'b', parts: [{ text: 'x' }] },
    ])
  })

  it('are replaced by one of the same id, in their place', () => {
    const { artifacts } = assembled([artifact('a', '1'), artifact('b', 'x'), artifact('a', '2')])
    expect(artifacts.map(({ artifactId, parts }) => [artifactId, parts])).toEqual([
      ['a', [{ text: '2' }]],
      ['b', [{ text: 'x' }]],
    ])
  })

  it('begin with what could not be appended to anything', () => {
    expect(assembled([artifact('a', '1', true)]).artifacts).toHaveLength(1)
  })
})
