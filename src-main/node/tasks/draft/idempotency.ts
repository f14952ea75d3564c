import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import type { Message } from '@shared/a2a/index.ts'
import type { Db, Tx } from '../../store/index.ts'
import { selectTask, type TaskRow } from './rows.ts'

/** A lost answer is repeated within this time after the end of the task (spec/a2a-endpoint.md, Idempotency). */
const repeatAfterEndMs = 10 * 60_000
const keepAfterEndMs = 24 * 60 * 60_000

/** SHA-256 over the canonical JSON (RFC 8785) of the whole message as the client sent it. */
export function messageDigest(message: Message): Uint8Array {
  return createHash('sha256')
    .update(canonicalize(message) ?? '')
    .digest()
}

interface SentRow {
  readonly task: number
  readonly digest: Uint8Array
}

/**
 * The task that this message has already opened or reached. With a contextId the pair (contextId, messageId) decides
 * alone, whatever the parts say; without one an equal digest counts, while the task is open or for ten minutes after
 * its end: the client that lost the answer never learned its contextId.
 */
export function findSent(db: Db, peer: string, message: Message, digest: Uint8Array, now: number): TaskRow | undefined {
  const { contextId, messageId } = message
  const context = contextId ?? null
  const rows = db.all<SentRow>(
    'SELECT task, digest FROM task_sent WHERE peer = ? AND message = ? AND context IS ? ORDER BY rowid DESC',
    peer,
    messageId,
    context,
  )
  for (const sent of rows) {
    const task = db.get<TaskRow & { open: number }>(
      `${selectTask.replace('row,', 'row, open,')} WHERE row = ?`,
      sent.task,
    )
    if (task === undefined) continue
    if (contextId !== undefined) return task
    const recent = task.open === 1 || now - task.status_at <= repeatAfterEndMs
    if (recent && Buffer.from(sent.digest).equals(digest)) return task
  }
  return undefined
}

export function rememberSent(
  tx: Tx,
  peer: string,
  message: Message,
  digest: Uint8Array,
  task: TaskRow,
  now: number,
): void {
  tx.run(
    'INSERT INTO task_sent (peer, context, message, digest, task, at) VALUES (?, ?, ?, ?, ?, ?)',
    peer,
    message.contextId ?? null,
    message.messageId,
    digest,
    task.row,
    now,
  )
}

/** Drops what belongs to tasks that ended more than a day ago. */
export function forgetSent(tx: Tx, now: number): void {
  tx.run(
    'DELETE FROM task_sent WHERE task IN (SELECT row FROM task_tasks WHERE open = 0 AND status_at < ?)',
    now - keepAfterEndMs,
  )
}
