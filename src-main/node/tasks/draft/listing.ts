import type { TaskState } from '@shared/a2a/index.ts'
import { AnetError } from '@shared/errors.ts'
import type { Db, SqlValue } from '../../store/index.ts'
import { selectTask, type TaskRow } from './rows.ts'
import type { TaskQuery } from '../types.ts'

/** Newest titles that a text filter looks through: they are sealed, so no index can find them. */
export const textScanLimit = 5000
const maxLimit = 200

interface Cursor {
  readonly at: number
  readonly row: number
}

function encodeCursor(row: TaskRow): string {
  return `${row.status_at}.${row.row}`
}

function decodeCursor(cursor: string): Cursor {
  const match = /^(\d{1,16})\.(\d{1,16})$/.exec(cursor)
  if (match === null) throw new AnetError('cursor_invalid', 'This cursor is not one of this list.')
  return { at: Number(match[1]), row: Number(match[2]) }
}

interface Conditions {
  readonly sql: string
  readonly values: readonly SqlValue[]
}

function conditions(query: TaskQuery): Conditions {
  const parts: string[] = []
  const values: SqlValue[] = []
  const add = (sql: string, ...more: SqlValue[]): void => {
    parts.push(sql)
    values.push(...more)
  }
  if (query.direction !== undefined) add('direction = ?', query.direction)
  if (query.peer !== undefined) add('peer = ?', query.peer)
  if (query.contextId !== undefined) add('context = ?', query.contextId)
  if (query.state === 'open') add('open = 1')
  else if (query.state !== undefined) add('state = ?', query.state)
  if (query.statusSince !== undefined) add('status_at >= ?', query.statusSince)
  return { sql: parts.length === 0 ? '1' : parts.join(' AND '), values }
}

/** A page by (status_at, row), both descending: an index walk of at most one page, wherever it begins. */
export function listPage(db: Db, query: TaskQuery): { rows: TaskRow[]; nextCursor: string; total: number } {
  const { sql, values } = conditions(query)
  const limit = Math.min(query.limit, maxLimit)
  const after = query.cursor === undefined || query.cursor === '' ? undefined : decodeCursor(query.cursor)
  const keyset = after === undefined ? '' : 'AND (status_at, row) < (?, ?)'
  const from: SqlValue[] = after === undefined ? [] : [after.at, after.row]
  const rows = db.all<TaskRow>(
    `${selectTask} WHERE ${sql} ${keyset} ORDER BY status_at DESC, row DESC LIMIT ?`,
    ...values,
    ...from,
    limit + 1,
  )
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    rows: page,
    nextCursor: rows.length > limit && last !== undefined ? encodeCursor(last) : '',
    total: countTasks(db, query, { sql, values }),
  }
}

/** From the counters where they suffice; contexts and times are narrow enough to be counted. */
function countTasks(db: Db, query: TaskQuery, { sql, values }: Conditions): number {
  if (query.contextId !== undefined || query.statusSince !== undefined) {
    return db.get<{ n: number }>(`SELECT count(*) AS n FROM task_tasks WHERE ${sql}`, ...values)?.n ?? 0
  }
  const parts: string[] = []
  const more: SqlValue[] = []
  if (query.direction !== undefined) {
    parts.push('direction = ?')
    more.push(query.direction)
  }
  if (query.peer !== undefined) {
    parts.push('peer = ?')
    more.push(query.peer)
  }
  if (query.state === 'open') {
    parts.push(`state IN (${openStates.map(() => '?').join(', ')})`)
    more.push(...openStates)
  } else if (query.state !== undefined) {
    parts.push('state = ?')
    more.push(query.state)
  }
  const where = parts.length === 0 ? '' : `WHERE ${parts.join(' AND ')}`
  return db.get<{ n: number | null }>(`SELECT sum(tasks) AS n FROM task_counts ${where}`, ...more)?.n ?? 0
}

const openStates: readonly TaskState[] = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
]
