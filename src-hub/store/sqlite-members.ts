import type { Db, SqlDatabase, SqlValue, Tx } from '@shared/sql/index.ts'
import { decodeCbor, encodeCbor } from '@shared/wire/index.ts'
import {
  type CardIndex,
  type Fork,
  type HubStore,
  type MemberKey,
  type MemberRecord,
  type MemberState,
  type MemberSummary,
  type MemberWrite,
  seenStep,
  type StoredCard,
} from './types.ts'

interface MemberRow {
  id: number
  aid: string
  state: MemberState
  ksn: number
  key: Uint8Array | null
  seen: number
  joined_at: number
  version: number
  history: Uint8Array
  keyset_seq: number
  keyset: Uint8Array
  card_kind: 'card' | 'withdrawal' | null
  card_seq: number
  card_exp: number
  card_ksn: number
  card: Uint8Array | null
}

const recordColumns = `m.id, m.aid, m.state, m.ksn, m.key, m.seen, m.joined_at, m.version,
  s.history, s.keyset_seq, s.keyset, s.card_kind, s.card_seq, s.card_exp, s.card_ksn, s.card`

/** Contradicting statements of one agent that are kept; more of them prove nothing more. */
const maxForksPerAgent = 16
const maxStoredHistoryBytes = 1024 * 1024

export type MemberPart = Pick<
  HubStore,
  | 'memberKey'
  | 'member'
  | 'saveMember'
  | 'setState'
  | 'listMembers'
  | 'count'
  | 'touch'
  | 'addFork'
  | 'listForks'
  | 'addInvite'
>

/** `floor`: the newest time at which a listing began, which no later note of presence may meet. */
export function membersPart(db: SqlDatabase, listedAt: () => number): MemberPart {
  return {
    memberKey: async (aid) => {
      const row = db.read.get<Pick<MemberRow, 'state' | 'ksn' | 'key' | 'seen'>>(
        'SELECT state, ksn, key, seen FROM hub_members WHERE aid = ?',
        aid,
      )
      return row === undefined
        ? undefined
        : ({ aid, state: row.state, ksn: row.ksn, key: row.key, lastSeen: row.seen } satisfies MemberKey)
    },
    member: async (aid) => readMember(db.read, aid),
    saveMember: (write, { expected, at, invite }) =>
      db.write((tx) => {
        const known = tx.get<{ id: number; version: number }>(
          'SELECT id, version FROM hub_members WHERE aid = ?',
          write.aid,
        )
        if (known?.version !== expected) return 'conflict'
        if (invite !== undefined) {
          const used = tx.run('DELETE FROM hub_invites WHERE hash = ? AND expires_at > ?', invite, at)
          if (used.changes === 0) return 'invite_invalid'
        }
        saveMember(tx, write, known, at)
        return 'saved'
      }),
    setState: (aid, state) =>
      db.write((tx) => {
        const { changes } = tx.run(
          `UPDATE hub_members SET state = ?, version = version + 1, listed_until = ${listedUntil} WHERE aid = ?`,
          state,
          state,
          aid,
        )
        return changes === 1
      }),
    listMembers: async ({ state, after = '', limit }) => {
      const where = state === undefined ? '' : 'AND m.state = ?'
      const values: SqlValue[] = state === undefined ? [after, limit] : [after, state, limit]
      const rows = db.read.all<MemberRow & { listed_until: number | null; messages: number; bytes: number }>(
        `SELECT m.aid, m.state, m.joined_at, m.seen, m.listed_until,
           coalesce(b.messages, 0) AS messages, coalesce(b.bytes, 0) AS bytes
         FROM hub_members m LEFT JOIN hub_boxes b ON b.member = m.id
         WHERE m.aid > ? ${where} ORDER BY m.aid LIMIT ?`,
        ...values,
      )
      return rows.map((row): MemberSummary => ({
        aid: row.aid,
        state: row.state,
        joinedAt: row.joined_at,
        lastSeen: row.seen,
        listed: row.listed_until !== null,
        messages: row.messages,
        bytes: row.bytes,
      }))
    },
    count: async (state) =>
      db.read.get<{ n: number }>('SELECT count(*) AS n FROM hub_members WHERE state = ?', state)?.n ?? 0,
    touch: (aid, at) =>
      db.write((tx) => {
        tx.run(
          'UPDATE hub_members SET seen_before = seen, seen = ? WHERE aid = ? AND seen <= ?',
          Math.max(at, listedAt() + 1),
          aid,
          at - seenStep,
        )
      }),
    addFork: (fork) =>
      db.write((tx) => {
        const kept = tx.get<{ n: number }>('SELECT count(*) AS n FROM hub_forks WHERE aid = ?', fork.aid)?.n ?? 0
        if (kept >= maxForksPerAgent) return
        tx.run(
          'INSERT OR IGNORE INTO hub_forks (aid, kind, seq, at, known, other) VALUES (?, ?, ?, ?, ?, ?)',
          fork.aid,
          fork.kind,
          fork.seq,
          fork.at,
          fork.known,
          fork.other,
        )
      }),
    listForks: async (limit) =>
      db.read.all<Fork>('SELECT aid, kind, seq, at, known, other FROM hub_forks ORDER BY id DESC LIMIT ?', limit),
    addInvite: (invite) =>
      db.write((tx) => {
        tx.run(
          'INSERT INTO hub_invites (hash, created_at, expires_at) VALUES (?, ?, ?)',
          invite.hash,
          invite.createdAt,
          invite.expiresAt,
        )
      }),
  }
}

// a card counts while the agent is a member and its key is the one that signed the card
const listedUntil = `(SELECT s.card_exp FROM hub_statements s
  WHERE s.member = hub_members.id AND s.card_kind = 'card' AND s.card_ksn = hub_members.ksn
    AND hub_members.key IS NOT NULL AND ? = 'member')`

function saveMember(tx: Tx, write: MemberWrite, known: { id: number } | undefined, at: number): void {
  let id = known?.id
  if (id === undefined) {
    id = tx.run(
      'INSERT INTO hub_members (aid, state, ksn, key, seen, joined_at, version) VALUES (?, ?, ?, ?, ?, ?, 1)',
      write.aid,
      write.state,
      write.ksn,
      write.key,
      at,
      at,
    ).lastInsertRowid
  } else {
    tx.run(
      'UPDATE hub_members SET state = ?, ksn = ?, key = ?, version = version + 1 WHERE id = ?',
      write.state,
      write.ksn,
      write.key,
      id,
    )
  }
  const { card } = write
  tx.run(
    `INSERT OR REPLACE INTO hub_statements
       (member, history, keyset_seq, keyset, card_kind, card_seq, card_exp, card_ksn, card)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    encodeCbor(write.history),
    write.keyset.seq,
    write.keyset.bytes,
    card?.kind ?? null,
    card?.seq ?? null,
    card?.kind === 'card' ? card.exp : null,
    card?.kind === 'card' ? card.ksn : null,
    card?.bytes ?? null,
  )
  tx.run(`UPDATE hub_members SET listed_until = ${listedUntil} WHERE id = ?`, write.state, id)
  if (write.index !== undefined) indexCard(tx, id, write.index)
}

function indexCard(tx: Tx, member: number, index: CardIndex): void {
  tx.run('DELETE FROM hub_terms WHERE member = ?', member)
  tx.run('DELETE FROM hub_text WHERE rowid = ?', member)
  const insert = 'INSERT OR IGNORE INTO hub_terms (kind, term, member) VALUES (?, ?, ?)'
  for (const skill of index.skills) tx.run(insert, 'skill', skill, member)
  for (const tag of index.tags) tx.run(insert, 'tag', tag, member)
  if (index.text !== '') tx.run('INSERT INTO hub_text (rowid, text) VALUES (?, ?)', member, index.text)
}

export function readMember(db: Db, aid: string): MemberRecord | undefined {
  const row = db.get<MemberRow>(
    `SELECT ${recordColumns} FROM hub_members m JOIN hub_statements s ON s.member = m.id WHERE m.aid = ?`,
    aid,
  )
  return row === undefined ? undefined : recordOf(row)
}

/** The first of `ids`, as many as have `bytes` in all, but one at least. */
export function readMembers(db: Db, ids: readonly number[], bytes: number): readonly MemberRecord[] {
  const sql = `SELECT ${recordColumns} FROM hub_members m JOIN hub_statements s ON s.member = m.id WHERE m.id = ?`
  const members: MemberRecord[] = []
  let sum = 0
  for (const id of ids) {
    const row = db.get<MemberRow>(sql, id)
    if (row === undefined) throw new Error(`member ${id} has no statements`)
    sum += row.history.byteLength + row.keyset.byteLength + (row.card?.byteLength ?? 0)
    if (sum > bytes && members.length > 0) break
    members.push(recordOf(row))
  }
  return members
}

function recordOf(row: MemberRow): MemberRecord {
  return {
    aid: row.aid,
    state: row.state,
    ksn: row.ksn,
    key: row.key,
    version: row.version,
    history: decodeCbor(row.history, maxStoredHistoryBytes) as Uint8Array[],
    keyset: { seq: row.keyset_seq, bytes: row.keyset },
    card: cardOf(row),
    joinedAt: row.joined_at,
    lastSeen: row.seen,
  }
}

function cardOf(row: MemberRow): StoredCard | undefined {
  const { card_seq: seq, card: bytes } = row
  if (row.card_kind === null || bytes === null) return undefined
  return row.card_kind === 'card'
    ? { kind: 'card', seq, bytes, exp: row.card_exp, ksn: row.card_ksn }
    : { kind: 'withdrawal', seq, bytes }
}
