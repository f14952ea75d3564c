import { createHash } from 'node:crypto'
import type { JsonObject, Message, Part } from '@shared/a2a/index.ts'
import { anetKeys } from '@shared/a2a/index.ts'
import type { TaskEntryView, TaskSummaryView } from '@shared/contract/index.ts'
import type { Artifact, TaskStatus } from '@shared/a2a/index.ts'
import { inlineLimit } from '../store/index.ts'
import type {
  LargePart,
  StoredArtifact,
  StoredMessage,
  StoredPart,
  StoredStatus,
  TaskEntry,
  TaskSummary,
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
      return { kind: 'message', seq: entry.seq, at: entry.at, from: entry.from, message: messageView(entry.message) }
    case 'status':
      return {
        kind: 'status',
        seq: entry.seq,
        at: entry.at,
        status: statusView(entry.status),
        reason: entry.reason ?? null,
      }
    case 'artifact':
      return {
        kind: 'artifact',
        seq: entry.seq,
        at: entry.at,
        artifact: artifactView(entry.artifact),
        append: entry.append,
        lastChunk: entry.lastChunk,
      }
    case 'cancel':
      return { kind: 'cancel', seq: entry.seq, at: entry.at }
  }
}

export function messageView(message: StoredMessage): Message {
  return { ...message, parts: message.parts.map(partView) }
}

export function artifactView(artifact: StoredArtifact): Artifact {
  return { ...artifact, parts: artifact.parts.map(partView) }
}

function statusView(status: StoredStatus): TaskStatus {
  const { message, ...rest } = status
  return message === undefined ? rest : { ...rest, message: messageView(message) }
}

/**
 * A part as views carry it: bytes of a file become `raw: ""` with `metadata["anet.file"]` = {size, sha256}; text and data
 * that lie in files likewise become empty. The bytes are had with `tasks.saveFile`.
 */
function partView(part: StoredPart): Part {
  if (isLarge(part)) {
    const { large, ...rest } = part
    return {
      ...rest,
      ...(large.field === 'data' ? { data: null } : { [large.field]: '' }),
      metadata: withFile(part.metadata, large.file.size, large.file.sha256),
    }
  }
  if (part.raw !== undefined) {
    const bytes = Buffer.from(part.raw, 'base64')
    return { ...part, raw: '', metadata: withFile(part.metadata, bytes.byteLength, sha256(bytes)) }
  }
  const long = part.text ?? (part.data === undefined ? '' : JSON.stringify(part.data))
  // a text of n characters has at most 3n bytes of UTF-8: most parts need no exact count
  if (long.length * 3 <= inlineLimit || Buffer.byteLength(long) <= inlineLimit) return part
  return {
    ...part,
    ...(part.text === undefined ? { data: null } : { text: '' }),
    metadata: withFile(part.metadata, Buffer.byteLength(long), sha256(Buffer.from(long))),
  }
}

export function isLarge(part: StoredPart): part is LargePart {
  return 'large' in part
}

function withFile(metadata: JsonObject | undefined, size: number, digest: string): JsonObject {
  return { ...metadata, [anetKeys.file]: { size, sha256: digest } }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
