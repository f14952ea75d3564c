import { decodeCbor, encodeCbor } from '@shared/wire/index.ts'
import { type Content, inlineLimit, type Place } from '../store/index.ts'
import { base64, isLarge, plainBytes } from './parts.ts'
import type { StoredArtifact, StoredMessage, StoredPart } from './types.ts'

/** The sealed part of an entry. What the task's row says (task and context id) is not repeated in it. */
export interface EntryContent {
  readonly from?: 'requester' | 'provider'
  readonly client?: string
  readonly message?: StoredMessage
  readonly artifact?: StoredArtifact
  readonly append?: boolean
  readonly lastChunk?: boolean
}

/** The sealed part of a task's row. `nonce` is the requester's 32 random bytes from task.open. */
export interface TaskContent {
  readonly title: string
  readonly nonce: Uint8Array
}

/** Seals the content of an entry: DAG-CBOR in which the bytes of files are bytes, so that a message fits as it came. */
export function sealEntry(content: Content, place: Place, entry: EntryContent): Uint8Array {
  return content.seal(place, encodeCbor(mapParts(entry, packed)))
}

/** The content of an entry from its row. Errors: `database_damaged`. */
export function openEntry(content: Content, place: Place, sealed: Uint8Array): EntryContent {
  const entry = decodeCbor(content.open(place, sealed), inlineLimit) as EntryContent
  return mapParts(entry, unpacked)
}

export function sealTask(content: Content, place: Place, task: TaskContent): Uint8Array {
  return content.seal(place, encodeCbor(task))
}

export function openTask(content: Content, place: Place, sealed: Uint8Array): TaskContent {
  return decodeCbor(content.open(place, sealed), inlineLimit) as TaskContent
}

/** A part as it lies in a row: DAG-CBOR has bytes, so that base64 does not make a file a third larger. */
type PackedPart = Omit<StoredPart, 'raw'> & { readonly raw?: Uint8Array }

function packed(part: StoredPart): StoredPart {
  if (isLarge(part) || part.raw === undefined) return part
  const row: PackedPart = { ...part, raw: plainBytes(Buffer.from(part.raw, 'base64')) }
  return row as unknown as StoredPart
}

function unpacked(part: StoredPart): StoredPart {
  const { raw } = part as PackedPart
  return raw === undefined ? part : ({ ...part, raw: base64(raw) } as StoredPart)
}

function mapParts(entry: EntryContent, map: (part: StoredPart) => StoredPart): EntryContent {
  const { message, artifact } = entry
  return {
    ...entry,
    ...(message === undefined ? {} : { message: { ...message, parts: message.parts.map(map) } }),
    ...(artifact === undefined ? {} : { artifact: { ...artifact, parts: artifact.parts.map(map) } }),
  }
}
