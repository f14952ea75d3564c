import { isTerminal, type TaskState } from '@shared/a2a/index.ts'
import type { EffectStatus, ReceiptStatus } from '@shared/a2a/index.ts'
import type { TaskKey } from '../../network/index.ts'
import type { Content, Db, Place, Tx } from '../../store/index.ts'
import type { TaskSummary } from '../types.ts'

export interface TaskRow {
  readonly row: number
  readonly direction: 'out' | 'in'
  readonly requester: string
  readonly task: string
  readonly peer: string
  readonly context: string
  readonly state: TaskState
  readonly state_seq: number
  readonly reason: string | null
  readonly effect: EffectStatus | null
  readonly receipt: ReceiptStatus
  readonly created_at: number
  readonly updated_at: number
  readonly status_at: number
  readonly cancel_requested: number
  readonly title: Uint8Array
}

const columns =
  'row, direction, requester, task, peer, context, state, state_seq, reason, effect, receipt, created_at, updated_at, status_at, cancel_requested, title'
export const selectTask = `SELECT ${columns} FROM task_tasks`

export function titlePlace(requester: string, task: string): Place {
  return { table: 'task_tasks', id: `${requester}/${task}`, column: 'title' }
}

export function noncePlace(requester: string, task: string): Place {
  return { table: 'task_tasks', id: `${requester}/${task}`, column: 'nonce' }
}

export function findTask(db: Db, key: TaskKey): TaskRow | undefined {
  return db.get<TaskRow>(`${selectTask} WHERE requester = ? AND task = ?`, key.requester, key.id)
}

export function taskOfRow(db: Db, row: number): TaskRow | undefined {
  return db.get<TaskRow>(`${selectTask} WHERE row = ?`, row)
}

export interface NewTask {
  readonly direction: 'out' | 'in'
  readonly key: TaskKey
  readonly peer: string
  readonly contextId: string
  readonly nonce: Uint8Array
  readonly title: string
  readonly at: number
  readonly reason?: string
}

/** A new task in SUBMITTED, before its first entry. */
export function insertTask(tx: Tx, content: Content, task: NewTask): TaskRow {
  const { requester, id } = task.key
  const title = content.seal(titlePlace(requester, id), Buffer.from(task.title, 'utf8'))
  const nonce = content.seal(noncePlace(requester, id), task.nonce)
  const { lastInsertRowid } = tx.run(
    `INSERT INTO task_tasks (direction, requester, task, peer, context, state, open, state_seq, reason, created_at, updated_at, status_at, title, nonce)
     VALUES (?, ?, ?, ?, ?, 'TASK_STATE_SUBMITTED', 1, 0, ?, ?, ?, ?, ?, ?)`,
    task.direction,
    requester,
    id,
    task.peer,
    task.contextId,
    task.reason ?? null,
    task.at,
    task.at,
    task.at,
    title,
    nonce,
  )
  countTask(tx, task.direction, task.peer, 'TASK_STATE_SUBMITTED', 1)
  return {
    row: lastInsertRowid,
    direction: task.direction,
    requester,
    task: id,
    peer: task.peer,
    context: task.contextId,
    state: 'TASK_STATE_SUBMITTED',
    state_seq: 0,
    reason: task.reason ?? null,
    effect: null,
    receipt: 'unknown',
    created_at: task.at,
    updated_at: task.at,
    status_at: task.at,
    cancel_requested: 0,
    title,
  }
}

export type TaskChange = Partial<Pick<TaskRow, 'state' | 'reason' | 'effect' | 'status_at' | 'cancel_requested'>>

/** Applies a change together with the next sequence number; counters follow the state. */
export function updateTask(tx: Tx, before: TaskRow, change: TaskChange, at: number): TaskRow {
  const after: TaskRow = {
    ...before,
    ...change,
    state_seq: before.state_seq + 1,
    updated_at: Math.max(at, before.updated_at),
  }
  tx.run(
    'UPDATE task_tasks SET state = ?, open = ?, state_seq = ?, reason = ?, effect = ?, updated_at = ?, status_at = ?, cancel_requested = ? WHERE row = ?',
    after.state,
    isTerminal(after.state) ? 0 : 1,
    after.state_seq,
    after.reason,
    after.effect,
    after.updated_at,
    after.status_at,
    after.cancel_requested,
    after.row,
  )
  if (before.state !== after.state) {
    countTask(tx, after.direction, after.peer, before.state, -1)
    countTask(tx, after.direction, after.peer, after.state, 1)
  }
  return after
}

/** Totals of lists are read from here: counting a million rows for each page would be too slow. */
function countTask(tx: Tx, direction: string, peer: string, state: TaskState, by: number): void {
  tx.run(
    `INSERT INTO task_counts (direction, peer, state, tasks) VALUES (?, ?, ?, ?)
     ON CONFLICT (direction, peer, state) DO UPDATE SET tasks = tasks + excluded.tasks`,
    direction,
    peer,
    state,
    by,
  )
}

const unconfirmedAfterMs = 15 * 60_000

/** `oldest`: since when something of this task waits for the peer's acknowledgement. */
export function summaryOf(content: Content, row: TaskRow, oldest: number | undefined, now: number): TaskSummary {
  return {
    key: { requester: row.requester, id: row.task },
    direction: row.direction,
    peer: row.peer,
    contextId: row.context,
    state: row.state,
    stateSeq: row.state_seq,
    reason: row.reason ?? undefined,
    effectStatus: row.effect ?? undefined,
    receipt: row.receipt,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    statusAt: row.status_at,
    title: Buffer.from(content.open(titlePlace(row.requester, row.task), row.title)).toString('utf8'),
    cancelRequested: row.cancel_requested !== 0,
    unconfirmed: oldest !== undefined && now - oldest > unconfirmedAfterMs,
  }
}
