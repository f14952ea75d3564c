import { isTerminal, type TaskState, taskStates } from '@shared/a2a/index.ts'
import { AnetError } from '@shared/errors.ts'
import { decodeBase64Url, encodeBase64Url } from '@shared/wire/index.ts'
import type { Db, SqlValue } from '../store/index.ts'
import type { Records } from './records.ts'
import { rowsByIds, stateToSql, type TaskRow } from './task-rows.ts'
import type { TaskPage, TaskQuery } from './types.ts'

const maxLimit = 200
/** A text is looked for in the titles of this many tasks of the filter, the newest ones. */
const searched = 1000

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
 * tasks as with ten thousand. Only a context, or a time from which on, has its total counted along the index.
 *
 * `text` is looked for in titles and task ids. Titles are sealed, so that no index can hold them: the newest 1000 tasks
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
    tasks: rowsAt(db, page).map(({ row }) => records.summaryOf(row)),
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
  const found = rowsAt(db, spotsOf(db, query, undefined, searched)).filter(
    ({ row }) => row.key.id.startsWith(text) || records.titleOf(row).toLowerCase().includes(text),
  )
  const rest = after === undefined ? found : found.filter(({ spot }) => comesAfter(spot, after))
  const page = rest.slice(0, limit)
  return {
    tasks: page.map(({ row }) => records.summaryOf(row)),
    nextCursor: rest.length > limit ? writeCursor(page.at(-1)?.spot) : '',
    total: found.length,
  }
}

function rowsAt(db: Db, spots: readonly Spot[]): { readonly spot: Spot; readonly row: TaskRow }[] {
  const rows = rowsByIds(
    db,
    spots.map(({ id }) => id),
  )
  return spots.flatMap((spot) => {
    const row = rows.get(spot.id)
    return row === undefined ? [] : [{ spot, row }]
  })
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
  const { contextId, statusSince } = query
  if (contextId !== undefined) return walk(db, query, run, statusSince === undefined ? '' : 'AND status_at >= ?')
  const all = countedOf(db, query, run)
  if (statusSince === undefined) return all
  // along the index from either end, in steps that double: what lies nearer to its end is counted
  for (let step = 1024; step < all; step *= 2) {
    const newer = walk(db, query, run, 'AND status_at >= ?', step)
    if (newer < step) return newer
    const older = walk(db, query, run, 'AND status_at < ?', step)
    if (older < step) return all - older
  }
  return walk(db, query, run, 'AND status_at >= ?')
}

function countedOf(db: Db, query: TaskQuery, run: Run): number {
  const counted = db.get<{ tasks: number }>(
    'SELECT tasks FROM task_counts WHERE peer = ? AND direction = ? AND state = ?',
    query.peer ?? '',
    run.direction,
    stateToSql(run.state),
  )
  return counted?.tasks ?? 0
}

/** Counts along an index, up to a limit. */
function walk(db: Db, query: TaskQuery, run: Run, time: string, limit = -1): number {
  const { where, values } = filterOf(query, run)
  const { statusSince } = query
  const counted = db.get<{ n: number }>(
    `SELECT count(*) AS n FROM (SELECT 1 FROM tasks WHERE ${where} ${time} LIMIT ?)`,
    ...values,
    ...(statusSince === undefined ? [] : [statusSince]),
    limit,
  )
  return counted?.n ?? 0
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
