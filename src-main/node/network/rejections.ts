import { isAnetError, type AnetError } from '@shared/errors.ts'
import type { Db, Tx } from '../store/index.ts'
import type { Rejection } from './types.ts'

/** Older ones go: what strangers send shall not fill the disk. */
const kept = 1000

/** Records a message that was dropped for good, with its named reason. */
export function recordRejection(tx: Tx, rejection: Rejection): void {
  const { at, code, peer, mid, detail } = rejection
  const { lastInsertRowid } = tx.run(
    'INSERT INTO net_rejected (at, code, peer, mid, detail) VALUES (?, ?, ?, ?, ?)',
    at,
    code,
    peer ?? null,
    mid ?? null,
    detail.slice(0, 500),
  )
  tx.run('DELETE FROM net_rejected WHERE id <= ?', lastInsertRowid - kept)
}

export function rejections(db: Db, limit: number): readonly Rejection[] {
  const rows = db.all<{ at: number; code: string; peer: string | null; mid: string | null; detail: string }>(
    'SELECT at, code, peer, mid, detail FROM net_rejected ORDER BY id DESC LIMIT ?',
    limit,
  )
  return rows.map(({ peer, mid, ...row }) => ({ ...row, peer: peer ?? undefined, mid: mid ?? undefined }))
}

/** Trouble of this node, not of the message: the message stays where it is and is tried again. */
export function isPermanent(error: unknown): error is AnetError {
  return isAnetError(error) && !/^(database_|disk_full$)/.test(error.code)
}
