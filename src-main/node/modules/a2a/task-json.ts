import { createHash } from 'node:crypto'
import {
  anetKeys,
  type Artifact,
  type JsonObject,
  type Message,
  type Part,
  type Task,
  type TaskStatus,
} from '@shared/a2a/index.ts'
import { inlineLimit } from '../../store/index.ts'
import type {
  LargePart,
  StoredArtifact,
  StoredMessage,
  StoredPart,
  StoredStatus,
  TaskRecord,
  Tasks,
  TaskSummary,
} from '../../tasks/index.ts'

/** How much of the content a task is shown with. */
export interface TaskForm {
  /** Undefined: all that is kept. 0: the field is absent. */
  readonly historyLength: number | undefined
  /** False: the field is absent. */
  readonly artifacts: boolean
  /** False: files and data over 256 KiB are named, without their bytes. */
  readonly content: boolean
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

/** A task as A2A shows it. Reads sealed files only if `content` is asked for. */
export async function taskOf(tasks: Tasks, record: TaskRecord, form: TaskForm): Promise<Task> {
  const fill = async (part: StoredPart): Promise<Part> => (form.content ? tasks.materialise(part) : withoutBytes(part))
  const history = historyOf(record, form.historyLength)
  return {
    id: record.key.id,
    contextId: record.contextId,
    status: await statusWith(record.status, fill),
    ...(form.artifacts
      ? { artifacts: await Promise.all(record.artifacts.map((item) => artifactWith(item, fill))) }
      : {}),
    ...(history === undefined
      ? {}
      : // a client that polls does not want its own upload back each time
        { history: await Promise.all(history.map((message) => messageWith(message, ownUploadsNamed(message, fill)))) }),
    metadata: taskMetadata(record),
  }
}

/** The same without the bytes of files, in one step. */
export function taskWithoutBytes(record: TaskRecord): Task {
  return {
    id: record.key.id,
    contextId: record.contextId,
    status: statusWithoutBytes(record.status),
    artifacts: record.artifacts.map(artifactWithoutBytes),
    history: record.history.map(messageWithoutBytes),
    metadata: taskMetadata(record),
  }
}

function historyOf(record: TaskRecord, length: number | undefined): readonly StoredMessage[] | undefined {
  if (length === undefined) return record.history
  return length === 0 ? undefined : record.history.slice(-length)
}

type Fill = (part: StoredPart) => Promise<Part>

function ownUploadsNamed(message: StoredMessage, fill: Fill): Fill {
  return message.role === 'ROLE_USER' ? async (part) => (isLarge(part) ? withoutBytes(part) : fill(part)) : fill
}

async function statusWith(status: StoredStatus, fill: Fill): Promise<TaskStatus> {
  const { message, ...rest } = status
  return message === undefined ? rest : { ...rest, message: await messageWith(message, fill) }
}

async function messageWith(message: StoredMessage, fill: Fill): Promise<Message> {
  return { ...message, parts: await Promise.all(message.parts.map(fill)) }
}

async function artifactWith(artifact: StoredArtifact, fill: Fill): Promise<Artifact> {
  return { ...artifact, parts: await Promise.all(artifact.parts.map(fill)) }
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
 * `anet.file`; data over 256 KiB becomes null likewise. Text stays, unless it lies in a sealed file.
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

export function isLarge(part: StoredPart): part is LargePart {
  return 'large' in part
}

function withFile(metadata: JsonObject | undefined, size: number, digest: string): JsonObject {
  return { ...metadata, [anetKeys.file]: { size, sha256: digest } }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
