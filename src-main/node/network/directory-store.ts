import { type AgentRecord, encodeCbor } from '@shared/wire/index.ts'
import type { AgentCard } from '@shared/a2a/index.ts'
import { z } from 'zod'
import type { Db, Store, Tx } from '../store/index.ts'
import { readMeta, writeMeta } from './meta.ts'

/** Past listings stay readable for this long: a cursor is good for an hour after what it shows has changed. */
const pastKeptFor = 60 * 60_000
const maxTerms = 256
const maxTextBytes = 16 * 1024
const genKey = 'directory-generation'
const prunedKey = 'directory-pruned'
/** `to_gen` of what holds now. */
export const current = Number.MAX_SAFE_INTEGER

export interface DirectoryRow {
  readonly id: number
  readonly aid: string
  readonly lastSeen: number
  readonly onHub: number
  readonly wrote: number
  readonly digest: Uint8Array | null
  readonly refresh: number
  readonly terms: string
}

export interface DirectoryUpdate {
  readonly aid: string
  readonly lastSeen: number
  readonly onHub?: boolean
  readonly wrote?: boolean
  /** Digest of the hub's record, to know it again. */
  readonly digest?: Uint8Array
  readonly refresh?: number
  /** What the verified card says; undefined leaves what is stored, null says that there is none. */
  readonly card?: AgentCard | null
}

const columns = 'id, aid, last_seen AS lastSeen, on_hub AS onHub, wrote, digest, refresh, terms'
const everything = ''

export const termOf = { all: everything, skill: (id: string) => `s:${id}`, tag: (tag: string) => `t:${tag}` }

/**
 * Rows of the local directory. Its order is kept in generations: a change ends the entry's old place and begins a new
 * one, so that a listing that is being paged through keeps the order that it began with.
 */
export class DirectoryStore {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  row(db: Db, aid: string): DirectoryRow | undefined {
    return db.get<DirectoryRow>(`SELECT ${columns} FROM net_directory WHERE aid = ?`, aid)
  }

  generation(db: Db): number {
    return readMeta(db, genKey, z.int()) ?? 0
  }

  /** Listings older than this cannot be continued. */
  prunedUntil(db: Db): number {
    return readMeta(db, prunedKey, z.int()) ?? 0
  }

  count(): number {
    return this.#store.read.get<{ count: number }>('SELECT count(*) AS count FROM net_directory')?.count ?? 0
  }

  put(tx: Tx, update: DirectoryUpdate, now: number): void {
    const before = this.row(tx, update.aid)
    const terms =
      update.card === undefined ? (before?.terms ?? describe(undefined)) : describe(update.card ?? undefined)
    const lastSeen = Math.max(update.lastSeen, before?.lastSeen ?? 0)
    tx.run(
      `INSERT INTO net_directory (aid, last_seen, on_hub, wrote, digest, refresh, terms) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (aid) DO UPDATE SET last_seen = excluded.last_seen, on_hub = excluded.on_hub, wrote = excluded.wrote,
         digest = excluded.digest, refresh = excluded.refresh, terms = excluded.terms`,
      update.aid,
      lastSeen,
      Number(update.onHub ?? before?.onHub === 1),
      Number(update.wrote ?? before?.wrote === 1),
      update.digest ?? before?.digest ?? null,
      update.refresh ?? before?.refresh ?? 0,
      terms,
    )
    if (before?.terms !== terms) this.#index(tx, update.aid, terms)
    if (before?.terms !== terms || before.lastSeen !== lastSeen) this.#place(tx, update.aid, lastSeen, terms, now)
  }

  remove(tx: Tx, aid: string, now: number): void {
    const row = this.row(tx, aid)
    if (row === undefined) return
    tx.run('DELETE FROM net_directory_text WHERE rowid = ?', row.id)
    tx.run('DELETE FROM net_directory WHERE id = ?', row.id)
    this.#end(tx, aid, this.#next(tx, now))
  }

  /** Those that the hub did not name in this refresh. */
  missingSince(tx: Tx, refresh: number): { aid: string; wrote: number }[] {
    return tx.all('SELECT aid, wrote FROM net_directory WHERE on_hub = 1 AND refresh < ?', refresh)
  }

  async prune(now: number): Promise<void> {
    await this.#store.write((tx) => {
      const before = now - pastKeptFor
      const newest = tx.get<{ gen: number | null }>(
        'SELECT max(to_gen) AS gen FROM net_directory_order WHERE to_gen < ?',
        before,
      )?.gen
      if (newest === null || newest === undefined) return
      tx.run('DELETE FROM net_directory_order WHERE to_gen < ?', before)
      writeMeta(tx, prunedKey, newest)
    })
  }

  #index(tx: Tx, aid: string, terms: string): void {
    const id = this.row(tx, aid)?.id ?? 0
    tx.run('DELETE FROM net_directory_text WHERE rowid = ?', id)
    tx.run('INSERT INTO net_directory_text (rowid, text) VALUES (?, ?)', id, `${parse(terms).text} ${aid}`)
  }

  #place(tx: Tx, aid: string, lastSeen: number, terms: string, now: number): void {
    const gen = this.#next(tx, now)
    this.#end(tx, aid, gen)
    for (const term of [everything, ...parse(terms).terms]) {
      tx.run(
        'INSERT INTO net_directory_order (term, rank, age, aid, from_gen, to_gen) VALUES (?, 1, ?, ?, ?, ?)',
        term,
        -lastSeen,
        aid,
        gen,
        current,
      )
    }
  }

  #end(tx: Tx, aid: string, gen: number): void {
    tx.run('UPDATE net_directory_order SET to_gen = ? WHERE aid = ? AND to_gen = ?', gen, aid, current)
  }

  /** Generations are times that never go back, so that their age is known. */
  #next(tx: Tx, now: number): number {
    const gen = Math.max(this.generation(tx) + 1, now)
    writeMeta(tx, genKey, gen)
    return gen
  }
}

/** What an entry is found by: exact terms and the words of its card. */
function describe(card: AgentCard | undefined): string {
  const terms = new Set<string>()
  const words: string[] = []
  if (card !== undefined) {
    words.push(card.name, card.description)
    for (const skill of card.skills) {
      terms.add(termOf.skill(skill.id))
      words.push(skill.id, skill.name, skill.description)
      for (const tag of skill.tags) {
        terms.add(termOf.tag(tag))
        words.push(tag)
      }
    }
  }
  return JSON.stringify({ terms: [...terms].slice(0, maxTerms).sort(), text: words.join(' ').slice(0, maxTextBytes) })
}

const described = z.object({ terms: z.array(z.string()), text: z.string() })

function parse(terms: string): z.infer<typeof described> {
  return described.parse(JSON.parse(terms))
}

/** Digest input that tells whether the hub's record of an agent has changed. */
export function recordBytes({ history, keyset, card, withdrawal }: AgentRecord): Uint8Array {
  return encodeCbor([history, keyset, card ?? null, withdrawal ?? null])
}
