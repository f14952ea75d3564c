import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type TaskRecord, taskWithBytes, taskWithoutBytes, withoutBytes } from '../../../src-main/node/tasks/index.ts'
import { taskSchema } from '@shared/a2a/index.ts'

const file = { name: 'f', key: 'k', size: 300_000, sha256: 'd'.repeat(64) }

const record: TaskRecord = {
  key: { requester: 'r', id: 'abc' },
  direction: 'out',
  peer: 'p',
  contextId: 'c',
  state: 'TASK_STATE_COMPLETED',
  stateSeq: 7,
  reason: 'because',
  effectStatus: 'OK',
  receipt: 'unverified',
  createdAt: 1,
  updatedAt: 2,
  statusAt: 3,
  title: 't',
  cancelRequested: false,
  unconfirmed: false,
  status: { state: 'TASK_STATE_COMPLETED', timestamp: '2026-01-01T00:00:00.000Z' },
  history: [
    { messageId: '1', role: 'ROLE_USER', parts: [{ large: { field: 'raw', file }, filename: 'up.bin' }] },
    { messageId: '2', role: 'ROLE_AGENT', parts: [{ text: 'question' }] },
    { messageId: '3', role: 'ROLE_USER', parts: [{ text: 'answer' }] },
  ],
  artifacts: [{ artifactId: 'reply', parts: [{ large: { field: 'text', file } }, { raw: 'AAEC', filename: 'x.bin' }] }],
}

describe('a task as A2A shows it', () => {
  it('is valid A2A and carries the metadata of ANet', () => {
    const task = taskWithoutBytes(record)
    expect(taskSchema.parse(task)).toEqual(task)
    expect(task.metadata).toEqual({
      'anet.state_seq': 7,
      'anet.receipt_verified': 'unverified',
      'anet.effect_status': 'OK',
      'anet.reason': 'because',
    })
  })

  it.each([
    [undefined, ['1', '2', '3']],
    [2, ['2', '3']],
    [10, ['1', '2', '3']],
    [0, undefined],
  ])('holds the newest messages for a historyLength of %s', (historyLength, ids) => {
    expect(taskWithoutBytes(record, { historyLength }).history?.map(({ messageId }) => messageId)).toEqual(ids)
  })

  it('leaves the key out when no artifacts are wanted', () => {
    expect('artifacts' in taskWithoutBytes(record, { artifacts: false })).toBe(false)
  })

  it('names files without their bytes', () => {
    expect(taskWithoutBytes(record).artifacts?.[0]?.parts).toEqual([
      { text: '', metadata: { 'anet.file': { size: file.size, sha256: file.sha256 } } },
      {
        raw: '',
        filename: 'x.bin',
        metadata: {
          'anet.file': {
            size: 3,
            sha256: createHash('sha256')
              .update(Uint8Array.of(0, 1, 2))
              .digest('hex'),
          },
        },
      },
    ])
  })

  it('fills artifacts in when bytes are wanted, and does not send a client its own uploads back', async () => {
    const task = await taskWithBytes(record, async (part) => ('large' in part ? { text: 'the whole text' } : part))
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: 'the whole text' }, { raw: 'AAEC', filename: 'x.bin' }])
    expect(task.history?.[0]?.parts[0]).toMatchObject({ raw: '', filename: 'up.bin' })
  })

  it('treats data over 256 KiB like a file', () => {
    const data = 'é'.repeat(200_000)
    expect(withoutBytes({ data })).toMatchObject({ data: null, metadata: { 'anet.file': { size: 400_002 } } })
    expect(withoutBytes({ data: 'short' })).toEqual({ data: 'short' })
  })
})
