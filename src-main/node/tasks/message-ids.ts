import { webcrypto } from 'node:crypto'
import type { Message, Part } from '@shared/a2a/index.ts'
import { type Aid, encodeCbor, isTooDeep } from '@shared/wire/index.ts'
import { crypto } from '../crypto.ts'
import type { Db, Tx } from '../store/index.ts'
import { plainBytes } from './parts.ts'
import { rowById, type TaskRow } from './task-rows.ts'

const minute = 60_000
/** How long after the end of its task a message is known: by context and id, and by its whole content alone. */
const knownByIdFor = 24 * 60 * minute
const knownByContentFor = 10 * minute
/** Content above this is hashed apart, off the main thread. */
const hashedApart = 64 * 1024
const pruneAtOnce = 1000

/** A message of a client as it was sent. An empty id is an absent one, as in ProtoJSON. */
export interface SentMessage {
  readonly agent: Aid
  readonly messageId: string
  readonly contextId: string | undefined
  /** SHA-256 over the canonical form of the whole message as sent: parts, taskId, metadata. */
  readonly digest: Uint8Array
}

export async function sentMessage(agent: Aid, message: Message): Promise<SentMessage> {
  const { messageId, contextId } = message
  return { agent, messageId, contextId: contextId === '' ? undefined : contextId, digest: await digestOf(message) }
}

/**
 * The task that a message belongs to if it was sent before (spec/a2a-endpoint.md, Idempotency). With a contextId the
 * pair of it and the messageId decides alone, whatever else the message holds, while the task is open and 24 hours
 * after. Without one the whole content has to be equal, while the task is open and 10 minutes after: a client that
 * lost the answer never learned the contextId. A context that was generated or inferred for the first copy counts as
 * its context, so that a client that did learn it is recognised as well (seed, Messages and identifiers).
 */
export function taskOfMessage(db: Db, sent: SentMessage, now: number): TaskRow | undefined {
  const known =
    sent.contextId === undefined
      ? db.get<{ task: number }>(
          `SELECT task FROM task_messages WHERE message = ? AND agent = ? AND with_context = 0 AND digest = ?
           AND (ended_at IS NULL OR ended_at > ?) ORDER BY id DESC LIMIT 1`,
          sent.messageId,
          sent.agent,
          sent.digest,
          now - knownByContentFor,
        )
      : db.get<{ task: number }>(
          `SELECT task FROM task_messages WHERE message = ? AND agent = ? AND context = ?
           AND (ended_at IS NULL OR ended_at > ?) ORDER BY id LIMIT 1`,
          sent.messageId,
          sent.agent,
          sent.contextId,
          now - knownByIdFor,
        )
  return known === undefined ? undefined : rowById(db, known.task)
}

/** Remembers a message, in the transaction that acts on it. */
export function rememberMessage(tx: Tx, sent: SentMessage, row: Pick<TaskRow, 'id' | 'contextId'>): void {
  tx.run(
    'INSERT INTO task_messages (task, agent, context, with_context, message, digest) VALUES (?, ?, ?, ?, ?, ?)',
    row.id,
    sent.agent,
    row.contextId,
    Number(sent.contextId !== undefined),
    sent.messageId,
    sent.digest,
  )
}

/** Forgets messages of tasks that ended over 24 hours ago, a bounded number at once. */
export function forgetMessages(tx: Tx, now: number): void {
  tx.run(
    'DELETE FROM task_messages WHERE id IN (SELECT id FROM task_messages WHERE ended_at <= ? LIMIT ?)',
    now - knownByIdFor,
    pruneAtOnce,
  )
}

/** Equal for equal messages whatever the order of their keys; large content enters by its own digest. */
async function digestOf(message: Message): Promise<Uint8Array> {
  const parts: unknown[] = []
  for (const part of message.parts) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other: each is in memory a second time meanwhile
    parts.push(await forDigest(part))
  }
  const form = { ...message, parts }
  // what is nested too deep is refused later, by its content: here it only has to have some digest
  return crypto.sha256(isTooDeep(form) ? Buffer.from(JSON.stringify(form)) : encodeCbor(form))
}

async function forDigest(part: Part): Promise<unknown> {
  const long = part.raw ?? part.text ?? part.url
  if (long === undefined || long.length <= hashedApart) return ['whole', part]
  const field = part.raw === undefined ? (part.text === undefined ? 'url' : 'text') : 'raw'
  const { [field]: content = '', ...rest } = part
  const bytes = plainBytes(Buffer.from(content))
  return ['digest', field, new Uint8Array(await webcrypto.subtle.digest('SHA-256', bytes)), rest]
}
