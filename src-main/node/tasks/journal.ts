import { type EffectStatus, isTerminal, type TaskState } from '@shared/a2a/index.ts'
import { AnetError } from '@shared/errors.ts'
import type { Aid } from '@shared/wire/index.ts'
import type { TaskKey } from '../network/index.ts'
import type { Clock } from '../ports.ts'
import type { Store, Tx } from '../store/index.ts'
import type { Announcements } from './announcements.ts'
import { insertEntry, messageOfTask } from './entries.ts'
import { sealTask } from './entry-content.ts'
import type { Records } from './records.ts'
import { findRow, insertRow, placeOfTask, type TaskRow, updateRow } from './task-rows.ts'
import type { FaultPoint, StoredArtifact, StoredMessage, TaskEntry } from './types.ts'

/** More entries than this no task has any use for; a peer that sends more is refused. */
const maxEntries = 20_000

export interface JournalParts {
  readonly store: Store
  readonly records: Records
  readonly announcements: Announcements
  readonly clock: Clock
  readonly fault: FaultPoint
}

export interface Opening {
  readonly key: TaskKey
  readonly direction: 'out' | 'in'
  readonly peer: Aid
  readonly contextId: string
  readonly nonce: Uint8Array
  readonly title: string
  readonly message: StoredMessage
  readonly client?: string
  readonly reason?: string
  readonly accepted: boolean
}

export interface StatusChange {
  readonly state: TaskState
  readonly message?: StoredMessage
  readonly reason?: string
  readonly effectStatus?: EffectStatus
}

/**
 * The only place that writes to tasks: each step adds an entry, moves the row on, records evidence at the end of a
 * task, and is announced after the commit. All of it inside the caller's transaction.
 */
export class Journal {
  readonly #parts: JournalParts

  constructor(parts: JournalParts) {
    this.#parts = parts
  }

  open(tx: Tx, opening: Opening): TaskRow {
    const { store, clock } = this.#parts
    const now = clock.now()
    const { key, direction, peer, contextId, nonce, title, accepted } = opening
    const row = insertRow(tx, {
      key,
      direction,
      peer,
      contextId,
      state: 'TASK_STATE_SUBMITTED',
      stateSeq: 1,
      reason: opening.reason,
      effectStatus: undefined,
      createdAt: now,
      updatedAt: now,
      statusAt: now,
      cancelRequested: false,
      accepted,
      sealed: sealTask(store.content, placeOfTask(key), { title, nonce }),
    })
    this.#record(tx, row, messageEntry(row, { seq: 1, at: now }, opening.message, opening.client))
    return row
  }

  message(tx: Tx, row: TaskRow, message: StoredMessage, client?: string): TaskRow {
    return this.#append(tx, row, row, messageEntry(row, this.#next(row), message, client))
  }

  status(tx: Tx, row: TaskRow, change: StatusChange): TaskRow {
    const { state, reason, effectStatus } = change
    const next = this.#next(row)
    const after = { ...row, state, reason, effectStatus, statusAt: next.at }
    const message = change.message === undefined ? undefined : messageOfTask(row, 'provider', change.message)
    const written = this.#append(tx, row, after, {
      ...next,
      kind: 'status',
      status: { state, timestamp: new Date(next.at).toISOString(), ...(message === undefined ? {} : { message }) },
      ...(reason === undefined ? {} : { reason }),
      ...(effectStatus === undefined ? {} : { effectStatus }),
    })
    if (isTerminal(state)) this.#ended(tx, written)
    return written
  }

  artifact(
    tx: Tx,
    row: TaskRow,
    update: { readonly artifact: StoredArtifact; readonly append: boolean; readonly lastChunk: boolean },
  ): TaskRow {
    const { artifact, append, lastChunk } = update
    return this.#append(tx, row, row, { ...this.#next(row), kind: 'artifact', artifact, append, lastChunk })
  }

  cancel(tx: Tx, row: TaskRow): TaskRow {
    return this.#append(tx, row, { ...row, cancelRequested: true }, { ...this.#next(row), kind: 'cancel' })
  }

  /** The provider has taken the task: recorded once. */
  accepted(tx: Tx, row: TaskRow): TaskRow {
    if (row.accepted) return row
    const after = { ...row, accepted: true }
    this.#parts.records.writing(row.key)
    updateRow(tx, row, after)
    this.evidence(tx, 'task.accepted', row)
    return after
  }

  /** Something came after the end of the task: it changes nothing, and that it came is on record. */
  late(tx: Tx, row: TaskRow, what: string, state?: TaskState): void {
    this.evidence(tx, 'task.late', row, { what, ...(state === undefined ? {} : { state }) })
  }

  /** Appends evidence about a task: ids, states and sizes only. */
  evidence(
    tx: Tx,
    kind: string,
    row: Pick<TaskRow, 'key' | 'direction' | 'peer'>,
    data: Readonly<Record<string, string | number | boolean>> = {},
  ): void {
    this.#parts.store.evidence.append(tx, kind, { direction: row.direction, peer: row.peer, ...data }, row.key)
  }

  /** The newest row of a task, as this transaction sees it. Errors: `task_not_found`. */
  row(tx: Tx, key: TaskKey, direction: 'out' | 'in'): TaskRow {
    const row = findRow(tx, key)
    if (row?.direction !== direction) throw taskNotFound(key.id)
    return row
  }

  #next(row: TaskRow): { seq: number; at: number } {
    if (row.stateSeq >= maxEntries) {
      throw new AnetError('task_too_long', `This task has ${maxEntries} entries: nothing more is added to it.`)
    }
    return { seq: row.stateSeq + 1, at: this.#parts.clock.now() }
  }

  #append(tx: Tx, before: TaskRow, changed: TaskRow, entry: TaskEntry): TaskRow {
    const after = { ...changed, stateSeq: entry.seq, updatedAt: entry.at }
    updateRow(tx, before, after)
    this.#record(tx, after, entry)
    return after
  }

  /** The entry that the row already counts. */
  #record(tx: Tx, row: TaskRow, entry: TaskEntry): void {
    const { store, records, announcements, fault } = this.#parts
    records.writing(row.key)
    insertEntry(store, tx, row, entry)
    tx.afterCommit(() => announcements.updated({ task: records.committed(row, entry), entry }))
    fault(`task.${entry.kind}`, tx)
  }

  /** Messages of an ended task are known for a while longer (message-ids.ts); how it ended is evidence. */
  #ended(tx: Tx, row: TaskRow): void {
    tx.run('UPDATE task_messages SET ended_at = ? WHERE task = ?', row.statusAt, row.id)
    const kind = {
      TASK_STATE_COMPLETED: 'task.completed',
      TASK_STATE_CANCELED: 'task.canceled',
      TASK_STATE_REJECTED: 'task.refused',
    }[row.state as string]
    this.evidence(tx, kind ?? 'task.failed', row, row.reason === undefined ? {} : { reason: row.reason })
  }
}

function messageEntry(
  row: TaskRow,
  place: { readonly seq: number; readonly at: number },
  message: StoredMessage,
  client: string | undefined,
): TaskEntry {
  return {
    ...place,
    kind: 'message',
    from: 'requester',
    ...(client === undefined ? {} : { client }),
    message: messageOfTask(row, 'requester', message),
  }
}

/** Of a task that does not exist and of one that is somebody else's: the two look alike. */
export function taskNotFound(id: string): AnetError {
  return new AnetError('task_not_found', `There is no task ${id.slice(0, 64)}.`, {
    remedy: 'List the tasks with "anet tasks list".',
  })
}
