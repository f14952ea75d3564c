import type { TaskEntryView, TaskSummaryView } from '@shared/contract/index.ts'
import {
  artifactWithoutBytes,
  messageWithoutBytes,
  statusWithoutBytes,
  type TaskEntry,
  type TaskSummary,
} from '../tasks/index.ts'

/** The summary as the doors show it; `nameOf` gives the verified name of an agent or its placeholder. */
export function taskSummaryView(task: TaskSummary, nameOf: (aid: string) => string): TaskSummaryView {
  return {
    id: task.key.id,
    requester: task.key.requester,
    direction: task.direction,
    peer: task.peer,
    peerName: nameOf(task.peer),
    contextId: task.contextId,
    state: task.state,
    stateSeq: task.stateSeq,
    reason: task.reason ?? null,
    effectStatus: task.effectStatus ?? null,
    receipt: task.receipt,
    createdAt: task.createdAt,
    updatedAt: task.updatedAt,
    title: task.title,
    cancelRequested: task.cancelRequested,
    unconfirmed: task.unconfirmed,
  }
}

/** An entry of the timeline without the bytes of files. */
export function taskEntryView(entry: TaskEntry): TaskEntryView {
  switch (entry.kind) {
    case 'message':
      return {
        kind: 'message',
        seq: entry.seq,
        at: entry.at,
        from: entry.from,
        message: messageWithoutBytes(entry.message),
      }
    case 'status':
      return {
        kind: 'status',
        seq: entry.seq,
        at: entry.at,
        status: statusWithoutBytes(entry.status),
        reason: entry.reason ?? null,
      }
    case 'artifact':
      return {
        kind: 'artifact',
        seq: entry.seq,
        at: entry.at,
        artifact: artifactWithoutBytes(entry.artifact),
        append: entry.append,
        lastChunk: entry.lastChunk,
      }
    case 'cancel':
      return { kind: 'cancel', seq: entry.seq, at: entry.at }
  }
}
