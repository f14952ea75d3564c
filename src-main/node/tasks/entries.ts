import type { EffectStatus } from '@shared/a2a/index.ts'
import type { Place, Store, Tx } from '../store/index.ts'
import { type EntryContent, openEntry, sealEntry } from './entry-content.ts'
import { stateFromSql, stateToSql, type TaskRow } from './task-rows.ts'
import type { StoredMessage, TaskEntry } from './types.ts'

interface EntryRow {
  readonly seq: number
  readonly at: number
  readonly kind: TaskEntry['kind']
  readonly state: string | null
  readonly reason: string | null
  readonly effect: EffectStatus | null
  readonly content: Uint8Array | null
}

/** Writes an entry of a task. */
export function insertEntry(store: Store, tx: Tx, row: Pick<TaskRow, 'id' | 'key'>, entry: TaskEntry): void {
  const status = entry.kind === 'status' ? entry : undefined
  const content = contentOf(entry)
  tx.run(
    'INSERT INTO task_entries (task, seq, at, kind, state, reason, effect, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    row.id,
    entry.seq,
    entry.at,
    entry.kind,
    status === undefined ? null : stateToSql(status.status.state),
    status?.reason ?? null,
    status?.effectStatus ?? null,
    content === undefined ? null : sealEntry(store.content, placeOf(row, entry.seq), content),
  )
}

/** Entries of a task with a seq above `afterSeq`, in order. Errors: `database_damaged`. */
export function readEntries(
  store: Store,
  row: Pick<TaskRow, 'id' | 'key' | 'contextId'>,
  afterSeq: number,
): readonly TaskEntry[] {
  return store.read
    .all<EntryRow>(
      'SELECT seq, at, kind, state, reason, effect, content FROM task_entries WHERE task = ? AND seq > ? ORDER BY seq',
      row.id,
      afterSeq,
    )
    .map((entry) => entryOf(store, row, entry))
}

/** The message as one of this task: its ids stand in it, and its role is that of the side that it came from. */
export function messageOfTask(
  row: Pick<TaskRow, 'key' | 'contextId'>,
  from: 'requester' | 'provider',
  message: StoredMessage,
): StoredMessage {
  const role = from === 'requester' ? 'ROLE_USER' : 'ROLE_AGENT'
  return { ...message, contextId: row.contextId, taskId: row.key.id, role }
}

function placeOf({ key }: Pick<TaskRow, 'key'>, seq: number): Place {
  return { table: 'task_entries', id: `${key.requester}/${key.id}/${seq}`, column: 'content' }
}

function contentOf(entry: TaskEntry): EntryContent | undefined {
  switch (entry.kind) {
    case 'message': {
      const { from, client, message } = entry
      return { from, ...(client === undefined ? {} : { client }), message: bare(message) }
    }
    case 'status':
      return entry.status.message === undefined ? undefined : { message: bare(entry.status.message) }
    case 'artifact':
      return { artifact: entry.artifact, append: entry.append, lastChunk: entry.lastChunk }
    case 'cancel':
      return undefined
  }
}

/** The ids are those of the row: repeating them could make a message that just fits too large for its row. */
function bare({ contextId: _context, taskId: _task, ...message }: StoredMessage): StoredMessage {
  return message
}

function entryOf(store: Store, row: Pick<TaskRow, 'key' | 'contextId'>, entry: EntryRow): TaskEntry {
  const { seq, at, kind } = entry
  const content = entry.content === null ? {} : openEntry(store.content, placeOf(row, seq), entry.content)
  switch (kind) {
    case 'message': {
      const from = content.from ?? 'requester'
      const message = messageOfTask(row, from, required(content.message))
      return { seq, at, kind, from, ...(content.client === undefined ? {} : { client: content.client }), message }
    }
    case 'status': {
      const message = content.message === undefined ? undefined : messageOfTask(row, 'provider', content.message)
      return {
        seq,
        at,
        kind,
        status: {
          state: stateFromSql(required(entry.state)),
          timestamp: new Date(at).toISOString(),
          ...(message === undefined ? {} : { message }),
        },
        ...(entry.reason === null ? {} : { reason: entry.reason }),
        ...(entry.effect === null ? {} : { effectStatus: entry.effect }),
      }
    }
    case 'artifact': {
      const { append = false, lastChunk = false } = content
      return { seq, at, kind, artifact: required(content.artifact), append, lastChunk }
    }
    case 'cancel':
      return { seq, at, kind }
  }
}

function required<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error('an entry of a task lacks its content')
  return value
}
