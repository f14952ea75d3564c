import {
  anetKeys,
  type Artifact,
  type JsonObject,
  type Message,
  type Part,
  type StreamResponse,
  type Task,
  type TaskArtifactUpdateEvent,
  type TaskStatusUpdateEvent,
} from '@shared/a2a/index.ts'

/** Room in an event for what surrounds the content: ids, the JSON-RPC envelope, the field name. */
const envelopeBytes = 16 * 1024
/** Longest piece of a text that is split. JSON writes a character with six bytes at most. */
const pieceChars = 128 * 1024
const metadataBytes = 256 * 1024

/** The JSON texts that stand for one update on a stream, none over the limit, and what they weigh together. */
export interface StreamEvents {
  readonly bytes: number
  [Symbol.iterator](): Iterator<string>
}

/** A snapshot over the limit leaves out the oldest history and goes on with its artifacts as updates. */
export function snapshotEvents(task: Task, eventBytes: number): StreamEvents {
  const whole = JSON.stringify({ task } satisfies StreamResponse)
  const bytes = Buffer.byteLength(whole)
  if (bytes + envelopeBytes <= eventBytes) return single(whole, bytes)
  return {
    bytes,
    *[Symbol.iterator]() {
      const { artifacts = [], history = [], ...rest } = task
      const { message } = rest.status
      const base: Task = {
        ...rest,
        status: message === undefined ? rest.status : { ...rest.status, message: shortened(message) },
        ...(rest.metadata === undefined ? {} : { metadata: bounded(rest.metadata) }),
        artifacts: [],
      }
      let left = eventBytes - envelopeBytes - jsonBytes(base)
      const kept: Message[] = []
      for (const entry of history.toReversed()) {
        left -= jsonBytes(entry) + 1
        if (left < 0) break
        kept.unshift(entry)
      }
      yield JSON.stringify({ task: { ...base, history: kept } } satisfies StreamResponse)
      for (const artifact of artifacts) {
        const update = { taskId: task.id, contextId: task.contextId, artifact, append: false, lastChunk: true }
        yield* artifactEvents(update, eventBytes)
      }
    },
  }
}

/** A text that does not fit is sent in pieces, each but the first with `append`, the last with `lastChunk` if it was so. */
export function artifactEvents(update: TaskArtifactUpdateEvent, eventBytes: number): StreamEvents {
  const whole = JSON.stringify({ artifactUpdate: update } satisfies StreamResponse)
  const bytes = Buffer.byteLength(whole)
  if (bytes + envelopeBytes <= eventBytes) return single(whole, bytes)
  return {
    bytes,
    *[Symbol.iterator]() {
      const { artifact, append, lastChunk, metadata } = update
      const groups = partGroups(artifact.parts, eventBytes)
      let first = true
      let group = groups.next()
      while (group.done !== true) {
        const following = groups.next()
        const piece: TaskArtifactUpdateEvent = {
          taskId: update.taskId,
          contextId: update.contextId,
          artifact: first
            ? { ...withBoundedMetadata(artifact), parts: group.value }
            : { artifactId: artifact.artifactId, parts: group.value },
          append: first ? (append ?? false) : true,
          lastChunk: following.done === true ? (lastChunk ?? false) : false,
          ...(metadata === undefined ? {} : { metadata: bounded(metadata) }),
        }
        yield JSON.stringify({ artifactUpdate: piece } satisfies StreamResponse)
        first = false
        group = following
      }
    },
  }
}

/** A status has no pieces: a message that does not fit names its long texts, which GetTask has. */
export function statusEvents(update: TaskStatusUpdateEvent, eventBytes: number): StreamEvents {
  const whole = JSON.stringify({ statusUpdate: update } satisfies StreamResponse)
  const bytes = Buffer.byteLength(whole)
  if (bytes + envelopeBytes <= eventBytes) return single(whole, bytes)
  const { message } = update.status
  const short: TaskStatusUpdateEvent = {
    ...update,
    status: message === undefined ? update.status : { ...update.status, message: shortened(message) },
    ...(update.metadata === undefined ? {} : { metadata: bounded(update.metadata) }),
  }
  const json = JSON.stringify({ statusUpdate: short } satisfies StreamResponse)
  return single(json, Buffer.byteLength(json))
}

function single(json: string, bytes: number): StreamEvents {
  return { bytes, [Symbol.iterator]: () => [json][Symbol.iterator]() }
}

/** Parts in groups that fit into one event each, long texts cut into several parts. */
function* partGroups(parts: readonly Part[], eventBytes: number): Generator<Part[]> {
  // the artifact's own metadata and those of the update travel beside the parts
  const room = eventBytes - envelopeBytes - 2 * metadataBytes
  let group: Part[] = []
  let used = 0
  for (const part of parts) {
    for (const piece of pieces(part)) {
      const bytes = jsonBytes(piece)
      if (group.length > 0 && used + bytes > room) {
        yield group
        group = []
        used = 0
      }
      group.push(piece)
      used += bytes
    }
  }
  if (group.length > 0) yield group
}

function* pieces(part: Part): Generator<Part> {
  const { text } = part
  if (text === undefined || text.length <= pieceChars) {
    yield withBoundedMetadata(part)
    return
  }
  let from = 0
  while (from < text.length) {
    let to = Math.min(from + pieceChars, text.length)
    // a pair of surrogates is one character
    if (to < text.length && isHighSurrogate(text.charCodeAt(to - 1))) to -= 1
    yield { ...(from === 0 ? withBoundedMetadata(part) : {}), text: text.slice(from, to) }
    from = to
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

/** The message with long texts and data replaced by their sizes, and at most as many parts as are sure to fit. */
function shortened(message: Message): Message {
  let left = 2 * metadataBytes
  const parts = message.parts.map((part): Part => {
    const bytes = jsonBytes(part)
    left -= bytes
    if (left >= 0) return part
    const metadata = { [anetKeys.file]: { size: bytes } }
    return part.data === undefined ? { text: '', metadata } : { data: null, metadata }
  })
  return { ...withBoundedMetadata(message), parts: parts.slice(0, 256) }
}

function withBoundedMetadata<T extends Artifact | Message | Part>(value: T): T {
  if (value.metadata === undefined || jsonBytes(value.metadata) <= metadataBytes / 4) return value
  return { ...value, metadata: {} }
}

function bounded(metadata: JsonObject): JsonObject {
  return jsonBytes(metadata) <= metadataBytes ? metadata : {}
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
