import type { Db, SqlValue } from '@shared/sql/index.ts'
import { readMembers } from './sqlite-members.ts'
import type { ListPage, ListQuery } from './types.ts'

interface ListedRow {
  readonly id: number
  /** When the agent was last seen, as of the beginning of the listing. */
  readonly key: number
  readonly aid: string
}

interface Filter {
  /** Condition on hub_members that looks the agent up in the index of the filter. */
  readonly probe: string
  /** Condition that begins with the index of the filter. */
  readonly driven: string
  readonly values: readonly SqlValue[]
  readonly matches: number
}

/**
 * Up to this many matches a filter's index leads and the matches are sorted. With more, the listing leads and each
 * agent is looked up in the index: then a page is full after few of them.
 */
const fewMatches = 4000

/** A page of agents as the listing stood at `at`, see {@link HubStore.listAgents}. */
export function listAgents(db: Db, query: ListQuery, at: number): ListPage {
  const filters = filtersOf(db, query)
  const rarest = filters.toSorted((a, b) => a.matches - b.matches)[0]
  const leads = rarest !== undefined && rarest.matches <= fewMatches ? rarest : undefined
  const conditions = filters.map((filter) => (filter === leads ? filter.driven : filter.probe))
  const filterValues = filters.flatMap((filter) => filter.values)
  // a unary plus takes a column out of the choice of indexes
  const column = (name: string) => (leads === undefined ? name : `+${name}`)

  const page = (key: string, extra: readonly string[], values: readonly SqlValue[]) =>
    db.all<ListedRow>(
      `SELECT id, ${key} AS key, aid FROM hub_members
       WHERE ${[...extra, 'listed_until > ?', ...conditions].join(' AND ')}
       ORDER BY ${column(key)} DESC, aid LIMIT ?`,
      ...values,
      query.now,
      ...filterValues,
      query.limit,
    )

  const { after } = query
  const pageOf = (rows: readonly ListedRow[]): ListPage => {
    const agents = readMembers(
      db,
      rows.map((row) => row.id),
      query.bytes,
    )
    const last = agents.length < rows.length || rows.length === query.limit ? rows[agents.length - 1] : undefined
    return {
      agents,
      next: last === undefined ? undefined : { at, seen: last.key, aid: last.aid },
    }
  }
  if (after === undefined) return pageOf(page('seen', [], []))
  const behind = (key: string) => `${column(key)} <= ? AND (${key} < ? OR aid > ?)`
  const position = [after.seen, after.seen, after.aid]
  // who was seen since the listing began stands where it stood then
  const unmoved = page('seen', [`${column('seen')} <= ?`, behind('seen')], [at, ...position])
  const moved = page('seen_before', [`${column('seen')} > ?`, behind('seen_before')], [at, ...position])
  const rows = [...unmoved, ...moved].toSorted((a, b) => b.key - a.key || (a.aid < b.aid ? -1 : 1))
  return pageOf(rows.slice(0, query.limit))
}

function filtersOf(db: Db, query: ListQuery): readonly Filter[] {
  const filters: Filter[] = []
  for (const kind of ['skill', 'tag'] as const) {
    const term = query[kind]
    if (term === undefined) continue
    filters.push({
      probe: 'EXISTS (SELECT 1 FROM hub_terms WHERE kind = ? AND term = ? AND member = hub_members.id)',
      driven: 'id IN (SELECT member FROM hub_terms WHERE kind = ? AND term = ?)',
      values: [kind, term],
      matches: countUpTo(db, 'hub_terms WHERE kind = ? AND term = ?', [kind, term]),
    })
  }
  if (query.words !== undefined) {
    const match = query.words.map((word) => `"${word.replaceAll('"', '')}"*`).join(' ')
    filters.push({
      probe: 'EXISTS (SELECT 1 FROM hub_text WHERE hub_text MATCH ? AND rowid = hub_members.id)',
      driven: 'id IN (SELECT rowid FROM hub_text WHERE hub_text MATCH ?)',
      values: [match],
      matches: countUpTo(db, 'hub_text WHERE hub_text MATCH ?', [match]),
    })
  }
  return filters
}

function countUpTo(db: Db, from: string, values: readonly SqlValue[]): number {
  const row = db.get<{ n: number }>(
    `SELECT count(*) AS n FROM (SELECT 1 FROM ${from} LIMIT ?)`,
    ...values,
    fewMatches + 1,
  )
  return row?.n ?? 0
}
