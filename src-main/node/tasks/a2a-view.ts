import { createHash } from 'node:crypto'
import {
  type Artifact,
  anetKeys,
  type JsonObject,
  type Message,
  type Part,
  type Task,
  type TaskStatus,
} from '@shared/a2a/index.ts'
import { inlineLimit } from '../store/index.ts'
import { isLarge } from './parts.ts'
import type { StoredArtifact, StoredMessage, StoredPart, StoredStatus, TaskRecord, TaskSummary } from './types.ts'

/** How much of the content a task is shown with. */
export interface TaskForm {
  /** Undefined: all that is kept. 0: the field is absent. N: the N newest. */
  readonly historyLength?: number | undefined
  /** False: the field is absent. */
  readonly artifacts?: boolean
}

/** The `anet.` metadata of a task (seed, Metadata). */
export function taskMetadata(task: TaskSummary): JsonObject {
  return {
    [anetKeys.stateSeq]: task.stateSeq,
    [anetKeys.receiptVerified]: task.receipt,
    ...(task.effectStatus === undefined ? {} : { [anetKeys.effectStatus]: task.effectStatus }),
    ...(task.reason === undefined ? {} : { [anetKeys.reason]: task.reason }),
  }
}

/** A task as A2A shows it, without the bytes of files: see {@link withoutBytes}. */
export function taskWithoutBytes(record: TaskRecord, form: TaskForm = {}): Task {
  const history = historyOf(record, form.historyLength)
  return {
    id: record.key.id,
    contextId: record.contextId,
    status: statusWithoutBytes(record.status),
    ...(form.artifacts === false ? {} : { artifacts: record.artifacts.map(artifactWithoutBytes) }),
    ...(history === undefined ? {} : { history: history.map(messageWithoutBytes) }),
    metadata: taskMetadata(record),
  }
}

/**
 * A task as A2A shows it, with the content of its files; `materialise` is that of `Tasks`. What the client itself
 * uploaded is named only: one that polls does not want it back each time.
 */
export async function taskWithBytes(
  record: TaskRecord,
  materialise: (part: StoredPart) => Promise<Part>,
  form: TaskForm = {},
): Promise<Task> {
  const fill = async <T extends { readonly parts: readonly StoredPart[] }>(holder: T) => ({
    ...holder,
    parts: await Promise.all(holder.parts.map(materialise)),
  })
  const fillMessage = (message: StoredMessage): Promise<Message> =>
    message.role === 'ROLE_USER' ? Promise.resolve(withoutUploads(message)) : fill(message)
  const history = historyOf(record, form.historyLength)
  const { message, ...status } = record.status
  return {
    id: record.key.id,
    contextId: record.contextId,
    status: message === undefined ? status : { ...status, message: await fillMessage(message) },
    ...(form.artifacts === false ? {} : { artifacts: await Promise.all(record.artifacts.map(fill)) }),
    ...(history === undefined ? {} : { history: await Promise.all(history.map(fillMessage)) }),
    metadata: taskMetadata(record),
  }
}

export function statusWithoutBytes(status: StoredStatus): TaskStatus {
  const { message, ...rest } = status
  return message === undefined ? rest : { ...rest, message: messageWithoutBytes(message) }
}

export function messageWithoutBytes(message: StoredMessage): Message {
  return { ...message, parts: message.parts.map(withoutBytes) }
}

export function artifactWithoutBytes(artifact: StoredArtifact): Artifact {
  return { ...artifact, parts: artifact.parts.map(withoutBytes) }
}

/**
 * A part as streams and lists carry it: a file keeps its name and type, has `raw: ""` and says its size and digest in
 * `anet.file`. Text and data that lie in a file are empty (`""`, null) and say the same, and so is data over 256 KiB.
 */
export function withoutBytes(part: StoredPart): Part {
  if (isLarge(part)) {
    const { large, ...rest } = part
    const empty = large.field === 'data' ? { data: null } : { [large.field]: '' }
    return { ...rest, ...empty, metadata: withFile(part.metadata, large.file.size, large.file.sha256) }
  }
  if (part.raw !== undefined) {
    const bytes = Buffer.from(part.raw, 'base64')
    return { ...part, raw: '', metadata: withFile(part.metadata, bytes.byteLength, sha256(bytes)) }
  }
  if (part.data === undefined) return part
  const json = JSON.stringify(part.data)
  // n characters have at most 3n bytes of UTF-8: most parts need no exact count
  if (json.length * 3 <= inlineLimit || Buffer.byteLength(json) <= inlineLimit) return part
  return { ...part, data: null, metadata: withFile(part.metadata, Buffer.byteLength(json), sha256(Buffer.from(json))) }
}

function withoutUploads(message: StoredMessage): Message {
  return { ...message, parts: message.parts.map((part) => (isLarge(part) ? withoutBytes(part) : part)) }
}

function historyOf(record: TaskRecord, length: number | undefined): readonly StoredMessage[] | undefined {
  if (length === undefined) return record.history
  return length === 0 ? undefined : record.history.slice(-length)
}

function withFile(metadata: JsonObject | undefined, size: number, digest: string): JsonObject {
  return { ...metadata, [anetKeys.file]: { size, sha256: digest } }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
