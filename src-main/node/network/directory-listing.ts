import { AnetError } from '@shared/errors.ts'
import { decodeBase64Url, type DirectoryQuery, encodeBase64Url, type WireCrypto } from '@shared/wire/index.ts'
import { z } from 'zod'
import type { Db } from '../store/index.ts'
import { type DirectoryStore, termOf } from './directory-store.ts'

const defaultLimit = 50
const cursorBytes = 512
/** Up to this many matches are fetched and sorted; of more, the listing is walked in order. */
const fewMatches = 1000

/** Generation of the listing, place of the last entry (rank, age, AID), and which question it answers. */
const cursorSchema = z.tuple([z.int(), z.int(), z.int(), z.string(), z.string()])
type Cursor = z.infer<typeof cursorSchema>

interface Place {
  readonly rank: number
  readonly age: number
  readonly aid: string
}

export interface ListingPage {
  readonly aids: readonly string[]
  readonly nextCursor: string
}

/**
 * One page of the local directory: official first, then the newest seen, then by AID. A listing keeps the order it
 * began with. Errors: `bad_cursor`, `cursor_expired`.
 */
export function listPage(db: Db, store: DirectoryStore, crypto: WireCrypto, query: DirectoryQuery): ListingPage {
  const question = questionOf(crypto, query)
  const cursor = query.cursor === undefined || query.cursor === '' ? undefined : readCursor(query.cursor, question)
  const gen = cursor?.[0] ?? store.generation(db)
  if (gen < store.prunedUntil(db) && cursor !== undefined) {
    throw new AnetError('cursor_expired', 'This listing is too old to be continued.', {
      remedy: 'Begin again without a cursor.',
    })
  }
  const words = query.q === undefined ? undefined : matchOf(query.q)
  const limit = query.limit ?? defaultLimit
  const places = words === null ? [] : select(db, { query, gen, cursor, words, limit: limit + 1 })
  const page = places.slice(0, limit)
  const last = page.at(-1)
  const more = places.length > limit && last !== undefined
  return {
    aids: page.map(({ aid }) => aid),
    nextCursor: more ? writeCursor([gen, last.rank, last.age, last.aid, question]) : '',
  }
}

function select(
  db: Db,
  input: {
    query: DirectoryQuery
    gen: number
    cursor: Cursor | undefined
    words: string | undefined
    limit: number
  },
): Place[] {
  const { query, gen, cursor, words, limit } = input
  const { skill, tag } = query
  const term = skill !== undefined ? termOf.skill(skill) : tag !== undefined ? termOf.tag(tag) : termOf.all
  const where = ['o.term = ?', 'o.from_gen <= ?', 'o.to_gen > ?']
  const values: (string | number)[] = [term, gen, gen]
  if (skill !== undefined && tag !== undefined) {
    where.push(
      `EXISTS (SELECT 1 FROM net_directory_order t
               WHERE t.aid = o.aid AND t.term = ? AND t.from_gen <= ? AND t.to_gen > ?)`,
    )
    values.push(termOf.tag(tag), gen, gen)
  }
  if (cursor !== undefined) {
    where.push('(o.rank, o.age, o.aid) > (?, ?, ?)')
    values.push(cursor[1], cursor[2], cursor[3])
  }
  let from = 'net_directory_order o'
  if (words !== undefined && matches(db, words) <= fewMatches) {
    from = `net_directory_text f CROSS JOIN net_directory d ON d.id = f.rowid CROSS JOIN net_directory_order o ON o.aid = d.aid`
    where.push('net_directory_text MATCH ?')
    values.push(words)
  } else if (words !== undefined) {
    where.push(
      `EXISTS (SELECT 1 FROM net_directory d JOIN net_directory_text f ON f.rowid = d.id
               WHERE d.aid = o.aid AND net_directory_text MATCH ?)`,
    )
    values.push(words)
  }
  return db.all<Place>(
    `SELECT o.rank AS rank, o.age AS age, o.aid AS aid FROM ${from} WHERE ${where.join(' AND ')}
     ORDER BY o.rank, o.age, o.aid LIMIT ?`,
    ...values,
    limit,
  )
}

function matches(db: Db, words: string): number {
  const row = db.get<{ count: number }>(
    'SELECT count(*) AS count FROM (SELECT 1 FROM net_directory_text WHERE net_directory_text MATCH ? LIMIT ?)',
    words,
    fewMatches + 1,
  )
  return row?.count ?? 0
}

/** Every word has to begin a word of the card. Null: nothing that could be searched for. */
function matchOf(q: string): string | null | undefined {
  if (q.trim() === '') return undefined
  const words = q
    // SQLite ends a text at a zero character, in the middle of the quotes
    .split(/[\s\0]+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
    .map((word) => `"${word.replaceAll('"', '""')}"*`)
  return words.length === 0 ? null : words.join(' AND ')
}

function questionOf(crypto: WireCrypto, { skill, tag, q }: DirectoryQuery): string {
  const text = JSON.stringify([skill ?? null, tag ?? null, q ?? null])
  return encodeBase64Url(crypto.sha256(new TextEncoder().encode(text)).subarray(0, 9))
}

function writeCursor(cursor: Cursor): string {
  return encodeBase64Url(new TextEncoder().encode(JSON.stringify(cursor)))
}

function readCursor(text: string, question: string): Cursor {
  let json: unknown
  try {
    json = JSON.parse(new TextDecoder().decode(decodeBase64Url(text, cursorBytes)))
  } catch {
    json = undefined
  }
  const cursor = cursorSchema.safeParse(json)
  if (!cursor.success || cursor.data[4] !== question) {
    throw new AnetError('bad_cursor', 'This cursor does not belong to this listing.', {
      remedy: 'Begin again without a cursor.',
    })
  }
  return cursor.data
}
