import { isTerminal, type TaskState, taskStates } from '@shared/a2a/index.ts'
import { AnetError } from '@shared/errors.ts'
import { decodeBase64Url, encodeBase64Url } from '@shared/wire/index.ts'
import type { Db, SqlValue } from '../store/index.ts'
import type { Records } from './records.ts'
import { rowById, stateToSql, type TaskRow } from './task-rows.ts'
import type { TaskPage, TaskQuery } from './types.ts'

const maxLimit = 200
/** A text is looked for in the titles of this many tasks of the filter, the newest ones. */
const searched = 2000

/** A task's place in the listing: newest status first, then the task that was added last. */
interface Spot {
  readonly id: number
  readonly statusAt: number
}

/** One run of an index: tasks of one direction in one state, in order. */
interface Run {
  readonly direction: 'out' | 'in'
  readonly state: TaskState
}

/**
 * A page of tasks, newest status first. Whatever the filter, it is merged from the beginnings of at most 16 runs of an
 * index (directions × states), and the total comes from maintained counters, so that it takes as long with a million
 * tasks as with ten thousand. Only a context or a point in time have their total counted, along the index.
 *
 * `text` is looked for in titles and task ids. Titles are sealed, so that no index can hold them: the newest 2000 tasks
 * of the filter are opened and looked through, older ones are not, and `total` counts what was found among them.
 *
 * Errors: `bad_cursor`.
 */
export function listTasks(db: Db, records: Records, query: TaskQuery): TaskPage {
  const limit = Math.min(Math.max(1, Math.trunc(query.limit)), maxLimit)
  const after = readCursor(query.cursor)
  const text = query.text?.trim().toLowerCase() ?? ''
  if (text !== '') return searchPage(db, records, { query, text, after, limit })
  const spots = spotsOf(db, query, after, limit + 1)
  const page = spots.slice(0, limit)
  return {
    tasks: page.flatMap(({ id }) => summaryAt(db, records, id)),
    nextCursor: spots.length > limit ? writeCursor(page.at(-1)) : '',
    total: countOf(db, query),
  }
}

function searchPage(
  db: Db,
  records: Records,
  search: { query: TaskQuery; text: string; after: Spot | undefined; limit: number },
): TaskPage {
  const { query, text, after, limit } = search
  const found: { spot: Spot; row: TaskRow }[] = []
  for (const spot of spotsOf(db, query, undefined, searched)) {
    const row = rowById(db, spot.id)
    if (row === undefined) continue
    if (row.key.id.startsWith(text) || records.titleOf(row).toLowerCase().includes(text)) found.push({ spot, row })
  }
  const rest = after === undefined ? found : found.filter(({ spot }) => comesAfter(spot, after))
  const page = rest.slice(0, limit)
  return {
    tasks: page.map(({ row }) => records.summaryOf(row)),
    nextCursor: rest.length > limit ? writeCursor(page.at(-1)?.spot) : '',
    total: found.length,
  }
}

function spotsOf(db: Db, query: TaskQuery, after: Spot | undefined, limit: number): readonly Spot[] {
  const spots = runsOf(query).flatMap((run) => spotsOfRun(db, query, run, after, limit))
  return spots.toSorted((a, b) => b.statusAt - a.statusAt || b.id - a.id).slice(0, limit)
}

function spotsOfRun(db: Db, query: TaskQuery, run: Run, after: Spot | undefined, limit: number): readonly Spot[] {
  const { where, values } = filterOf(query, run)
  const since = query.statusSince === undefined ? '' : 'AND status_at >= ?'
  const cursor = after === undefined ? '' : 'AND status_at <= ? AND (status_at < ? OR id < ?)'
  return db.all<Spot>(
    `SELECT id, status_at AS statusAt FROM tasks WHERE ${where} ${since} ${cursor}
     ORDER BY status_at DESC, id DESC LIMIT ?`,
    ...values,
    ...(query.statusSince === undefined ? [] : [query.statusSince]),
    ...(after === undefined ? [] : [after.statusAt, after.statusAt, after.id]),
    limit,
  )
}

function countOf(db: Db, query: TaskQuery): number {
  return runsOf(query).reduce((sum, run) => sum + countOfRun(db, query, run), 0)
}

function countOfRun(db: Db, query: TaskQuery, run: Run): number {
  if (query.contextId === undefined && query.statusSince === undefined) {
    const counted = db.get<{ tasks: number }>(
      'SELECT tasks FROM task_counts WHERE peer = ? AND direction = ? AND state = ?',
      query.peer ?? '',
      run.direction,
      stateToSql(run.state),
    )
    return counted?.tasks ?? 0
  }
  const { where, values } = filterOf(query, run)
  const since = query.statusSince === undefined ? '' : 'AND status_at >= ?'
  const times = query.statusSince === undefined ? [] : [query.statusSince]
  return db.get<{ n: number }>(`SELECT count(*) AS n FROM tasks WHERE ${where} ${since}`, ...values, ...times)?.n ?? 0
}

/** Equalities on the leading columns of one index of migrations.ts, whose rows are then in the order of the listing. */
function filterOf(query: TaskQuery, run: Run): { where: string; values: SqlValue[] } {
  const { contextId, peer } = query
  const values: SqlValue[] = [run.direction, stateToSql(run.state)]
  if (contextId !== undefined) {
    const ofPeer = peer === undefined ? '' : 'AND peer = ?'
    return {
      where: `context = ? AND direction = ? AND state = ? ${ofPeer}`,
      values: [contextId, ...values, ...(peer === undefined ? [] : [peer])],
    }
  }
  if (peer === undefined) return { where: 'direction = ? AND state = ?', values }
  return { where: 'peer = ? AND direction = ? AND state = ?', values: [peer, ...values] }
}

function runsOf({ direction, state }: TaskQuery): readonly Run[] {
  const directions = direction === undefined ? (['out', 'in'] as const) : [direction]
  const states =
    state === undefined ? taskStates : state === 'open' ? taskStates.filter((known) => !isTerminal(known)) : [state]
  return directions.flatMap((each) => states.map((known) => ({ direction: each, state: known })))
}

function summaryAt(db: Db, records: Records, id: number): TaskPage['tasks'] {
  const row = rowById(db, id)
  return row === undefined ? [] : [records.summaryOf(row)]
}

function comesAfter(spot: Spot, after: Spot): boolean {
  return spot.statusAt < after.statusAt || (spot.statusAt === after.statusAt && spot.id < after.id)
}

function writeCursor(spot: Spot | undefined): string {
  return spot === undefined ? '' : encodeBase64Url(new TextEncoder().encode(`${spot.statusAt}.${spot.id}`))
}

function readCursor(cursor: string | undefined): Spot | undefined {
  if (cursor === undefined || cursor === '') return undefined
  const [, statusAt, id] = /^(\d{1,15})\.(\d{1,15})$/.exec(cursorText(cursor)) ?? []
  if (statusAt === undefined || id === undefined) throw badCursor()
  return { statusAt: Number(statusAt), id: Number(id) }
}

function cursorText(cursor: string): string {
  try {
    return new TextDecoder().decode(decodeBase64Url(cursor, 64))
  } catch (cause) {
    throw badCursor(cause)
  }
}

function badCursor(cause?: unknown): AnetError {
  return new AnetError('bad_cursor', 'This cursor does not belong to this listing.', {
    remedy: 'Begin again without a cursor.',
    cause,
  })
}
