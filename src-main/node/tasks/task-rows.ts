import type { EffectStatus, TaskState } from '@shared/a2a/index.ts'
import type { Aid } from '@shared/wire/index.ts'
import type { TaskKey } from '../network/index.ts'
import type { Db, Place, Tx } from '../store/index.ts'

/** A task's row, all of it in the clear but `sealed`. */
export interface TaskRow {
  readonly id: number
  readonly key: TaskKey
  readonly direction: 'out' | 'in'
  readonly peer: Aid
  readonly contextId: string
  readonly state: TaskState
  readonly stateSeq: number
  readonly reason: string | undefined
  readonly effectStatus: EffectStatus | undefined
  readonly createdAt: number
  readonly updatedAt: number
  readonly statusAt: number
  readonly cancelRequested: boolean
  /** The provider has taken the task: it was neither refused nor left to the operator to admit. */
  readonly accepted: boolean
  /** TaskContent, sealed. */
  readonly sealed: Uint8Array
}

interface SqlRow {
  readonly id: number
  readonly task: string
  readonly requester: Aid
  readonly direction: 'out' | 'in'
  readonly peer: Aid
  readonly context: string
  readonly state: string
  readonly state_seq: number
  readonly reason: string | null
  readonly effect: EffectStatus | null
  readonly created_at: number
  readonly updated_at: number
  readonly status_at: number
  readonly cancel_requested: number
  readonly accepted: number
  readonly sealed: Uint8Array
}

const prefix = 'TASK_STATE_'

/** States lie in the database without the prefix that all of them share. */
export function stateToSql(state: TaskState): string {
  return state.slice(prefix.length)
}

export function stateFromSql(text: string): TaskState {
  return `${prefix}${text}` as TaskState
}

/** Where the sealed part of a task's row is bound to. */
export function placeOfTask(key: TaskKey): Place {
  return { table: 'tasks', id: `${key.requester}/${key.id}`, column: 'sealed' }
}

export function findRow(db: Db, key: TaskKey): TaskRow | undefined {
  const row = db.get<SqlRow>('SELECT * FROM tasks WHERE task = ? AND requester = ?', key.id, key.requester)
  return row === undefined ? undefined : rowFromSql(row)
}

export function rowById(db: Db, id: number): TaskRow | undefined {
  const row = db.get<SqlRow>('SELECT * FROM tasks WHERE id = ?', id)
  return row === undefined ? undefined : rowFromSql(row)
}

/** Rows by their ids, in one query. */
export function rowsByIds(db: Db, ids: readonly number[]): ReadonlyMap<number, TaskRow> {
  const rows = db.all<SqlRow>('SELECT * FROM tasks WHERE id IN (SELECT value FROM json_each(?))', JSON.stringify(ids))
  return new Map(rows.map((row) => [row.id, rowFromSql(row)]))
}

/** Tasks of whichever requester that have this id; at most three, which is enough to see that there are several. */
export function rowsByTaskId(db: Db, id: string): readonly TaskRow[] {
  return db.all<SqlRow>('SELECT * FROM tasks WHERE task = ? LIMIT 3', id).map(rowFromSql)
}

/** Tasks of one context with one agent that wait for an answer; at most two, which is enough to see that it is not one. */
export function rowsAskingInContext(db: Db, agent: Aid, contextId: string): readonly TaskRow[] {
  return db
    .all<SqlRow>(
      `SELECT * FROM tasks WHERE context = ? AND direction = 'out' AND state = 'INPUT_REQUIRED' AND peer = ?
       AND (effect IS NULL OR effect <> 'PAYMENT_REQUIRED') LIMIT 2`,
      contextId,
      agent,
    )
    .map(rowFromSql)
}

/** Peers' tasks that are open although a cancel was asked for. */
export function rowsCanceling(db: Db): readonly TaskRow[] {
  return db
    .all<SqlRow>(
      `SELECT * FROM tasks WHERE cancel_requested = 1 AND direction = 'in'
       AND state IN ('SUBMITTED', 'WORKING', 'INPUT_REQUIRED', 'AUTH_REQUIRED')`,
    )
    .map(rowFromSql)
}

/** Adds a task and counts it. */
export function insertRow(tx: Tx, row: Omit<TaskRow, 'id'>): TaskRow {
  const { lastInsertRowid: id } = tx.run(
    `INSERT INTO tasks (task, requester, direction, peer, context, state, state_seq, reason, effect,
       created_at, updated_at, status_at, cancel_requested, accepted, sealed)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    row.key.id,
    row.key.requester,
    row.direction,
    row.peer,
    row.contextId,
    stateToSql(row.state),
    row.stateSeq,
    row.reason ?? null,
    row.effectStatus ?? null,
    row.createdAt,
    row.updatedAt,
    row.statusAt,
    Number(row.cancelRequested),
    Number(row.accepted),
    row.sealed,
  )
  count(tx, row, row.state, 1)
  return { ...row, id }
}

/** Writes what may change of a task, and keeps the counts right. */
export function updateRow(tx: Tx, before: TaskRow, after: TaskRow): void {
  tx.run(
    'UPDATE tasks SET state_seq = ?, updated_at = ?, cancel_requested = ?, accepted = ? WHERE id = ?',
    after.stateSeq,
    after.updatedAt,
    Number(after.cancelRequested),
    Number(after.accepted),
    after.id,
  )
  // apart, because these columns are in the indices
  if (before.statusAt === after.statusAt && before.state === after.state && before.reason === after.reason) return
  tx.run(
    'UPDATE tasks SET state = ?, reason = ?, effect = ?, status_at = ? WHERE id = ?',
    stateToSql(after.state),
    after.reason ?? null,
    after.effectStatus ?? null,
    after.statusAt,
    after.id,
  )
  if (before.state === after.state) return
  count(tx, before, before.state, -1)
  count(tx, after, after.state, 1)
}

/** Once for the peer and once for all peers. */
function count(tx: Tx, { peer, direction }: Pick<TaskRow, 'peer' | 'direction'>, state: TaskState, by: 1 | -1): void {
  for (const whose of [peer, '']) {
    tx.run(
      `INSERT INTO task_counts (peer, direction, state, tasks) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET tasks = tasks + excluded.tasks`,
      whose,
      direction,
      stateToSql(state),
      by,
    )
  }
}

function rowFromSql(row: SqlRow): TaskRow {
  return {
    id: row.id,
    key: { requester: row.requester, id: row.task },
    direction: row.direction,
    peer: row.peer,
    contextId: row.context,
    state: stateFromSql(row.state),
    stateSeq: row.state_seq,
    reason: row.reason ?? undefined,
    effectStatus: row.effect ?? undefined,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    statusAt: row.status_at,
    cancelRequested: row.cancel_requested === 1,
    accepted: row.accepted === 1,
    sealed: row.sealed,
  }
}
