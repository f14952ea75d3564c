import type { TaskState } from '@shared/a2a/index.ts'
import { AnetError } from '@shared/errors.ts'
import type { Content, Db, Place, Tx } from '../../store/index.ts'
import { type TaskChange, type TaskRow, updateTask } from './rows.ts'
import type { StoredArtifact, StoredMessage, TaskEntry } from '../types.ts'

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never
/** An entry before it has its number. */
export type NewEntry = DistributiveOmit<TaskEntry, 'seq'>

interface EntryRow {
  readonly seq: number
  readonly at: number
  readonly kind: TaskEntry['kind']
  readonly content: Uint8Array
}

function place(task: TaskRow, seq: number): Place {
  return { table: 'task_entries', id: `${task.requester}/${task.task}/${seq}`, column: 'content' }
}

/** Appends an entry and applies what it changes on the task, under one new sequence number. */
export function appendEntry(
  tx: Tx,
  content: Content,
  before: TaskRow,
  entry: NewEntry,
  change: TaskChange = {},
): { task: TaskRow; entry: TaskEntry } {
  const task = updateTask(tx, before, change, entry.at)
  const seq = task.state_seq
  const { kind, at, ...rest } = entry
  tx.run(
    'INSERT INTO task_entries (task, seq, at, kind, content) VALUES (?, ?, ?, ?, ?)',
    task.row,
    seq,
    at,
    kind,
    content.sealJson(place(task, seq), rest),
  )
  return { task, entry: { ...entry, seq } as TaskEntry }
}

export function readEntries(db: Db, content: Content, task: TaskRow, afterSeq = 0): TaskEntry[] {
  const rows = db.all<EntryRow>(
    'SELECT seq, at, kind, content FROM task_entries WHERE task = ? AND seq > ? ORDER BY seq',
    task.row,
    afterSeq,
  )
  return rows.map(({ seq, at, kind, content: sealed }) => {
    const rest = content.openJson<object>(place(task, seq), sealed)
    return { seq, at, kind, ...rest } as TaskEntry
  })
}

/** What the entries add up to. */
export interface Assembled {
  readonly status: { readonly state: TaskState; readonly timestamp: string; readonly message?: StoredMessage }
  readonly history: readonly StoredMessage[]
  readonly artifacts: readonly StoredArtifact[]
}

export function assemble(task: TaskRow, entries: readonly TaskEntry[]): Assembled {
  let assembled: Assembled = {
    status: { state: 'TASK_STATE_SUBMITTED', timestamp: new Date(task.created_at).toISOString() },
    history: [],
    artifacts: [],
  }
  for (const entry of entries) assembled = extend(assembled, entry)
  // a state that changed without an entry of its own
  return {
    ...assembled,
    status: { ...assembled.status, state: task.state, timestamp: new Date(task.status_at).toISOString() },
  }
}

/** One entry more. A message that a status carries is the status's own until the next one; then it is history. */
export function extend(assembled: Assembled, entry: TaskEntry): Assembled {
  switch (entry.kind) {
    case 'message': {
      // what the status said was said before this message
      const { message: said, ...status } = assembled.status
      return {
        ...assembled,
        status,
        history: [...assembled.history, ...(said === undefined ? [] : [said]), entry.message],
      }
    }
    case 'status': {
      const { status } = entry
      const superseded = assembled.status.message
      return {
        ...assembled,
        status: {
          state: status.state,
          timestamp: status.timestamp ?? new Date(entry.at).toISOString(),
          ...(status.message === undefined ? {} : { message: status.message }),
        },
        history: superseded === undefined ? assembled.history : [...assembled.history, superseded],
      }
    }
    case 'artifact':
      return { ...assembled, artifacts: mergeArtifact(assembled.artifacts, entry.artifact, entry.append) }
    case 'cancel':
      return assembled
  }
}

/** A2A: `append` adds parts to the artifact of the same id; otherwise the artifact is set anew, in its old place. */
export function mergeArtifact(
  artifacts: readonly StoredArtifact[],
  update: StoredArtifact,
  append: boolean,
): readonly StoredArtifact[] {
  const at = artifacts.findIndex((artifact) => artifact.artifactId === update.artifactId)
  const before = artifacts[at]
  if (before === undefined) return [...artifacts, update]
  const merged = append ? { ...before, ...update, parts: [...before.parts, ...update.parts] } : update
  return artifacts.with(at, merged)
}

export function taskNotFound(): AnetError {
  return new AnetError('task_not_found', 'There is no such task.', { remedy: 'Look up its id: anet tasks list' })
}
