import { createHash } from 'node:crypto'
import type { Part } from '@shared/a2a/index.ts'
import type { WireArtifact, WireMessage, WirePart } from '@shared/wire/index.ts'
import { type Content, type FileRef, inlineLimit, type Tx } from '../store/index.ts'
import { planFiles } from './file-plan.ts'
import { base64, bytesOf, fieldOf, fromWirePart, isLarge } from './parts.ts'
import type { LargePart, StoredArtifact, StoredMessage, StoredPart } from './types.ts'

/** A message or an artifact in the form that is kept, and the sealed files that were written for it. */
export interface Kept<T> {
  readonly value: T
  readonly files: readonly FileRef[]
}

/** Keeps content: small content in rows, what does not fit there in sealed files (spec/architecture.md). */
export class Keeping {
  readonly #content: Content
  /** The shared file that was read last. */
  #opened: { readonly name: string; readonly bytes: Promise<Uint8Array> } | undefined

  constructor(content: Content) {
    this.#content = content
  }

  /** Writes files for the largest parts until the rest fits into a row. Errors: `message_too_large`. */
  async message(message: WireMessage): Promise<Kept<StoredMessage>> {
    const { parts, files } = await this.#parts(message)
    return { value: { ...message, parts }, files }
  }

  async artifact(artifact: WireArtifact): Promise<Kept<StoredArtifact>> {
    const { parts, files } = await this.#parts(artifact)
    return { value: { ...artifact, parts }, files }
  }

  /** Marks the files as referred to, in the transaction that writes the reference. */
  hold(tx: Tx, { files }: Kept<unknown>): void {
    for (const file of files) this.#content.keepFile(tx, file)
  }

  /** Removes files that no row came to refer to. What is left behind by a failure goes at the next start. */
  async discard({ files }: Kept<unknown>): Promise<void> {
    await Promise.allSettled(files.map(({ name }) => this.#content.deleteFile(name)))
  }

  /** Does what may come to refer to the files; if it does not, or fails, they are removed. */
  useOrDiscard(kept: Kept<unknown> | undefined, use: () => boolean): void {
    let used = false
    try {
      used = use()
    } finally {
      if (!used && kept !== undefined) void this.discard(kept)
    }
  }

  /** Fills a part in again. Errors: `database_damaged`. */
  async materialise(part: StoredPart): Promise<Part> {
    if (!isLarge(part)) return part
    const { large, ...rest } = part
    const bytes = await this.#bytes(large)
    if (large.field === 'raw') return { ...rest, raw: base64(bytes) }
    const text = new TextDecoder().decode(bytes)
    return large.field === 'text' ? { ...rest, text } : { ...rest, data: JSON.parse(text) as Part['data'] & {} }
  }

  async #bytes({ file, within }: LargePart['large']): Promise<Uint8Array> {
    if (within === undefined) return await this.#content.getFile(file)
    const { offset, size, sha256 } = within
    const whole = await this.#shared({ ...file, size, sha256 })
    return whole.subarray(offset, offset + file.size)
  }

  async #parts(holder: { readonly parts: readonly WirePart[] }): Promise<{ parts: StoredPart[]; files: FileRef[] }> {
    const files: FileRef[] = []
    const large = new Map<WirePart, LargePart>()
    // one after the other: each is in memory a second time while it is sealed
    for (const together of planFiles(holder)) {
      const contents = together.map(bytesOf)
      const [only = new Uint8Array()] = contents
      // oxlint-disable-next-line no-await-in-loop
      const file = await this.#content.putFile(contents.length === 1 ? only : Buffer.concat(contents))
      files.push(file)
      let offset = 0
      for (const [index, part] of together.entries()) {
        const bytes = contents[index] ?? new Uint8Array()
        large.set(part, largePart(part, contents.length === 1 ? { file } : sliceOf(file, offset, bytes)))
        offset += bytes.byteLength
      }
    }
    return { parts: holder.parts.map((part) => large.get(part) ?? fromWirePart(part)), files }
  }

  /** Parts that share a file are usually read one after the other. */
  async #shared(file: FileRef): Promise<Uint8Array> {
    const known = this.#opened
    if (known?.name === file.name) return await known.bytes
    const bytes = this.#content.getFile(file)
    this.#opened = { name: file.name, bytes }
    bytes.catch(() => (this.#opened = undefined))
    return await bytes
  }
}

/**
 * Content that came in a small message: it fits into a row as it is. A large one that nobody prepared was about to be
 * refused: it stays at the hub and is prepared when it comes again.
 */
export function inlineMessage(message: WireMessage): Kept<StoredMessage> {
  requireSmall(message)
  return { value: { ...message, parts: message.parts.map(fromWirePart) }, files: [] }
}

export function inlineArtifact(artifact: WireArtifact): Kept<StoredArtifact> {
  requireSmall(artifact)
  return { value: { ...artifact, parts: artifact.parts.map(fromWirePart) }, files: [] }
}

function requireSmall({ parts }: { readonly parts: readonly WirePart[] }): void {
  const size = parts.reduce((sum, part) => sum + (part.raw?.byteLength ?? part.text?.length ?? 0), 0)
  if (size > inlineLimit) throw new Error('a large message was not prepared')
}

function largePart(part: WirePart, where: Omit<LargePart['large'], 'field'>): LargePart {
  const { metadata, filename, mediaType } = part
  return {
    large: { field: fieldOf(part), ...where },
    ...(metadata === undefined ? {} : { metadata }),
    ...(filename === undefined ? {} : { filename }),
    ...(mediaType === undefined ? {} : { mediaType }),
  }
}

/** Size and digest are those of the part; those of the file that it shares stand beside them. */
function sliceOf(file: FileRef, offset: number, bytes: Uint8Array): Omit<LargePart['large'], 'field'> {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return {
    file: { ...file, size: bytes.byteLength, sha256 },
    within: { size: file.size, sha256: file.sha256, offset },
  }
}
