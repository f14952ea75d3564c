import type { SqlDatabase, Tx } from '@shared/sql/index.ts'
import type { Blobs } from './blobs.ts'
import type { HubStore, Nonce, StoredMail } from './types.ts'

/** Rows of one sweep step: few enough that no request waits long behind them. */
const sweepStep = 500

export type MailPart = Pick<
  HubStore,
  'useNonce' | 'nonceFloor' | 'appendMail' | 'mailAfter' | 'deleteMail' | 'sweep' | 'removeMember'
>

interface MailRow {
  id: number
  member: number
  size: number
  blob: string | null
}

export function mailPart(db: SqlDatabase, blobs: Blobs, fault: (point: string) => void): MailPart {
  let floor = db.read.get<{ value: number }>("SELECT value FROM hub_settings WHERE name = 'nonce_floor'")?.value ?? 0

  const deleteFiles = async (rows: readonly MailRow[]) => {
    await blobs.delete(rows.flatMap((row) => (row.blob === null ? [] : [row.blob])))
  }

  return {
    useNonce: (nonce) => db.write((tx) => insertNonce(tx, nonce)),
    nonceFloor: () => floor,
    appendMail: ({ to, at, size, content, nonce, box, onStored }) =>
      db.write((tx) => {
        if (!insertNonce(tx, nonce)) return 'replayed'
        const member = tx.get<{ id: number; messages: number | null; bytes: number | null }>(
          `SELECT m.id, b.messages, b.bytes FROM hub_members m LEFT JOIN hub_boxes b ON b.member = m.id
           WHERE m.aid = ? AND m.state = 'member' AND m.key IS NOT NULL`,
          to,
        )
        if (member === undefined) return 'unknown_agent'
        if ((member.messages ?? 0) >= box.messages || (member.bytes ?? 0) + size > box.bytes) return 'full'
        const { lastInsertRowid: id } = tx.run(
          'INSERT INTO hub_mail (member, at, size, blob, envelope) VALUES (?, ?, ?, ?, ?)',
          member.id,
          at,
          size,
          'blob' in content ? content.blob : null,
          'blob' in content ? null : content.envelope,
        )
        tx.run(
          `INSERT INTO hub_boxes (member, messages, bytes) VALUES (?, 1, ?)
           ON CONFLICT (member) DO UPDATE SET messages = messages + 1, bytes = bytes + excluded.bytes`,
          member.id,
          size,
        )
        fault('hub.mail.inserted')
        tx.afterCommit(() => onStored(id))
        return 'stored'
      }),
    mailAfter: async (aid, after, { limit, bytes, since }) => {
      const sizes = db.read.all<{ id: number; size: number; blob: string | null }>(
        `SELECT id, size, blob FROM hub_mail
         WHERE member = (SELECT id FROM hub_members WHERE aid = ?) AND id > ? AND at > ? ORDER BY id LIMIT ?`,
        aid,
        after,
        since,
        limit,
      )
      const mail: StoredMail[] = []
      let sum = 0
      for (const { id, size, blob } of sizes) {
        sum += blob === null ? size : 0
        if (sum > bytes && mail.length > 0) break
        const row =
          blob === null
            ? db.read.get<{ envelope: Uint8Array }>('SELECT envelope FROM hub_mail WHERE id = ?', id)
            : undefined
        mail.push({ id, size, blob: blob ?? undefined, envelope: row?.envelope })
      }
      return mail
    },
    deleteMail: async (aid, ids, waiting) => {
      const deleted = await db.write((tx) => {
        const rows: MailRow[] = []
        for (const id of ids) {
          const row = tx.get<MailRow>(
            `DELETE FROM hub_mail WHERE id = ? AND member = (SELECT id FROM hub_members WHERE aid = ?)
             RETURNING id, member, size, blob`,
            id,
            aid,
          )
          if (row !== undefined) rows.push(row)
        }
        takeFromBoxes(tx, rows)
        return rows
      }, waiting)
      fault('hub.ack.committed')
      await deleteFiles(deleted)
      return deleted.map((row) => row.id)
    },
    removeMember: async (aid) => {
      const removed = await db.write((tx) => {
        const member = tx.get<{ id: number }>('SELECT id FROM hub_members WHERE aid = ?', aid)
        if (member === undefined) return undefined
        tx.run(
          "UPDATE hub_members SET state = 'removed', listed_until = NULL, version = version + 1 WHERE id = ?",
          member.id,
        )
        const rows = tx.all<MailRow>(
          'DELETE FROM hub_mail WHERE member = ? RETURNING id, member, size, blob',
          member.id,
        )
        tx.run('DELETE FROM hub_boxes WHERE member = ?', member.id)
        return rows
      })
      if (removed === undefined) return undefined
      await deleteFiles(removed)
      return removed.map((row) => row.id)
    },
    sweep: async (before) => {
      const ids: number[] = []
      for (;;) {
        const rows = await db.write((tx) => {
          const expired = tx.all<MailRow>(
            'DELETE FROM hub_mail WHERE id IN (SELECT id FROM hub_mail WHERE at <= ? ORDER BY at LIMIT ?) RETURNING id, member, size, blob',
            before.mail,
            sweepStep,
          )
          takeFromBoxes(tx, expired)
          return expired
        })
        await deleteFiles(rows)
        for (const row of rows) ids.push(row.id)
        if (rows.length < sweepStep) break
      }
      floor = Math.max(floor, await db.write((tx) => forget(tx, before)))
      return ids
    },
  }
}

function insertNonce(tx: Tx, { time, nonce }: Nonce): boolean {
  return tx.run('INSERT OR IGNORE INTO hub_nonces (time, nonce) VALUES (?, ?)', time, nonce).changes === 1
}

/** Deletes old nonces and invites; returns the time of the newest nonce that is forgotten now. */
function forget(tx: Tx, before: { nonces: number; invites: number }): number {
  tx.run('DELETE FROM hub_invites WHERE expires_at <= ?', before.invites)
  const newest = tx.get<{ time: number | null }>(
    'SELECT max(time) AS time FROM hub_nonces WHERE time <= ?',
    before.nonces,
  )
  if (newest === undefined || newest.time === null) return 0
  tx.run('DELETE FROM hub_nonces WHERE time <= ?', before.nonces)
  tx.run(
    `INSERT INTO hub_settings (name, value) VALUES ('nonce_floor', ?)
     ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)`,
    newest.time,
  )
  return newest.time
}

function takeFromBoxes(tx: Tx, rows: readonly MailRow[]): void {
  const sums = new Map<number, { messages: number; bytes: number }>()
  for (const row of rows) {
    const sum = sums.get(row.member) ?? { messages: 0, bytes: 0 }
    sums.set(row.member, { messages: sum.messages + 1, bytes: sum.bytes + row.size })
  }
  for (const [member, sum] of sums) {
    tx.run(
      'UPDATE hub_boxes SET messages = messages - ?, bytes = bytes - ? WHERE member = ?',
      sum.messages,
      sum.bytes,
      member,
    )
  }
}
