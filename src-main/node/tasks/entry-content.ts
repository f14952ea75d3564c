import { decodeCbor, encodeCbor } from '@shared/wire/index.ts'
import { type Content, type FileRef, inlineLimit, type Place } from '../store/index.ts'
import { base64, isLarge, plainBytes } from './parts.ts'
import type { LargePart, StoredArtifact, StoredMessage, StoredPart } from './types.ts'

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

/**
 * Seals the content of an entry. In the row it is DAG-CBOR in which the bytes of files are bytes, and in which files
 * stand in a table of their own: so a message fits as it came, and a thousand parts can share a few files.
 */
export function sealEntry(content: Content, place: Place, entry: EntryContent): Uint8Array {
  const files = new Map<string, PackedFile>()
  const packed = mapParts(entry, (part) => packPart(part, files))
  return content.seal(place, encodeCbor({ ...packed, files: [...files.values()] }))
}

/** The content of an entry from its row. Errors: `database_damaged`. */
export function openEntry(content: Content, place: Place, sealed: Uint8Array): EntryContent {
  const { files, ...entry } = decodeCbor(content.open(place, sealed), inlineLimit) as EntryContent & {
    readonly files: readonly PackedFile[]
  }
  return mapParts(entry, (part) => unpackPart(part, files))
}

export function sealTask(content: Content, place: Place, task: TaskContent): Uint8Array {
  return content.seal(place, encodeCbor(task))
}

export function openTask(content: Content, place: Place, sealed: Uint8Array): TaskContent {
  return decodeCbor(content.open(place, sealed), inlineLimit) as TaskContent
}

interface PackedFile {
  readonly name: Uint8Array
  readonly key: Uint8Array
  readonly size: number
  readonly sha256: Uint8Array
}

/** A part as it lies in a row. */
type PackedPart = Omit<StoredPart, 'raw' | 'large'> & {
  readonly raw?: Uint8Array
  /** `file`: place in the table of files. A part that shares its file has a place in it, a size and a digest. */
  readonly large?: {
    readonly field: LargePart['large']['field']
    readonly file: number
    readonly at?: readonly [offset: number, size: number, sha256: Uint8Array]
  }
}

function packPart(part: StoredPart, files: Map<string, PackedFile>): StoredPart {
  if (isLarge(part)) return packLarge(part, files) as unknown as StoredPart
  if (part.raw === undefined) return part
  const packed: PackedPart = { ...part, raw: plainBytes(Buffer.from(part.raw, 'base64')) }
  return packed as unknown as StoredPart
}

function packLarge({ large, ...rest }: LargePart, files: Map<string, PackedFile>): PackedPart {
  const { field, file, within } = large
  const whole = within === undefined ? file : { ...file, size: within.size, sha256: within.sha256 }
  if (!files.has(file.name)) {
    files.set(file.name, {
      name: bytesOfHex(whole.name),
      key: plainBytes(Buffer.from(whole.key, 'base64url')),
      size: whole.size,
      sha256: bytesOfHex(whole.sha256),
    })
  }
  const index = [...files.keys()].indexOf(file.name)
  const at = within === undefined ? {} : { at: [within.offset, file.size, bytesOfHex(file.sha256)] as const }
  return { ...rest, large: { field, file: index, ...at } }
}

function unpackPart(part: StoredPart, files: readonly PackedFile[]): StoredPart {
  const { raw, large, ...rest } = part as unknown as PackedPart
  if (raw !== undefined) return { ...rest, raw: base64(raw) } as StoredPart
  return large === undefined ? part : { ...rest, large: unpackLarge(large, files) }
}

function unpackLarge({ field, file, at }: PackedPart['large'] & {}, files: readonly PackedFile[]): LargePart['large'] {
  const packed = files[file]
  if (packed === undefined) throw new Error('a part refers to a file that its entry does not name')
  const whole: FileRef = {
    name: hex(packed.name),
    key: Buffer.from(packed.key).toString('base64url'),
    size: packed.size,
    sha256: hex(packed.sha256),
  }
  if (at === undefined) return { field, file: whole }
  const [offset, size, sha256] = at
  return {
    field,
    file: { ...whole, size, sha256: hex(sha256) },
    within: { size: whole.size, sha256: whole.sha256, offset },
  }
}

function mapParts(entry: EntryContent, map: (part: StoredPart) => StoredPart): EntryContent {
  const { message, artifact } = entry
  return {
    ...entry,
    ...(message === undefined ? {} : { message: { ...message, parts: message.parts.map(map) } }),
    ...(artifact === undefined ? {} : { artifact: { ...artifact, parts: artifact.parts.map(map) } }),
  }
}

function bytesOfHex(text: string): Uint8Array {
  return plainBytes(Buffer.from(text, 'hex'))
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
