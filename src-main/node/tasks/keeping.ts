import type { Part } from '@shared/a2a/index.ts'
import { AnetError } from '@shared/errors.ts'
import { encodeCbor, type WireArtifact, type WireMessage, type WirePart } from '@shared/wire/index.ts'
import { type Content, type FileRef, inlineLimit, type Tx } from '../store/index.ts'
import { base64, bytesOf, fieldOf, fromWirePart, inlineSize, isLarge } from './parts.ts'
import type { LargePart, StoredArtifact, StoredMessage, StoredPart } from './types.ts'

/** Smaller content is not worth a file: the reference takes up several hundred bytes itself. */
const smallestFile = 1024
/** What one reference to a file takes up in a row, at most. */
const referenceSize = 320
/** Room for what a row holds beside the message: ids, names, a client's name. */
const roomForRest = 4096

/** A message or an artifact in the form that is kept, and the sealed files that were written for it. */
export interface Kept<T> {
  readonly value: T
  readonly files: readonly FileRef[]
}

/** Keeps content: small content in rows, what does not fit there in sealed files (spec/architecture.md). */
export class Keeping {
  readonly #content: Content

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
    const bytes = await this.#content.getFile(large.file)
    if (large.field === 'raw') return { ...rest, raw: base64(bytes) }
    const text = new TextDecoder().decode(bytes)
    return large.field === 'text' ? { ...rest, text } : { ...rest, data: JSON.parse(text) as Part['data'] & {} }
  }

  async #parts(holder: { readonly parts: readonly WirePart[] }): Promise<{ parts: StoredPart[]; files: FileRef[] }> {
    const chosen = partsForFiles(holder)
    const files: FileRef[] = []
    const parts: StoredPart[] = []
    // one after the other: each is in memory a second time while it is sealed
    for (const part of holder.parts) {
      if (!chosen.has(part)) parts.push(fromWirePart(part))
      else {
        // oxlint-disable-next-line no-await-in-loop
        const file = await this.#content.putFile(bytesOf(part))
        files.push(file)
        parts.push(largePart(part, file))
      }
    }
    return { parts, files }
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

function largePart(part: WirePart, file: FileRef): LargePart {
  const { metadata, filename, mediaType } = part
  return {
    large: { field: fieldOf(part), file },
    ...(metadata === undefined ? {} : { metadata }),
    ...(filename === undefined ? {} : { filename }),
    ...(mediaType === undefined ? {} : { mediaType }),
  }
}

function withoutContent({ metadata = {}, filename = '', mediaType = '' }: WirePart): object {
  return { metadata, filename, mediaType }
}

/** The largest parts, as many as it takes for the rest to fit into a row. */
function partsForFiles(holder: { readonly parts: readonly WirePart[] }): ReadonlySet<WirePart> {
  const sized = holder.parts.map((part) => ({ part, size: inlineSize(part) }))
  const frame = encodeCbor({ ...holder, parts: holder.parts.map(withoutContent) }).byteLength
  let total = frame + sized.reduce((sum, { size }) => sum + size + 16, 0)
  const chosen = new Set<WirePart>()
  const limit = inlineLimit - roomForRest
  if (total <= limit) return chosen
  for (const { part, size } of sized.toSorted((a, b) => b.size - a.size)) {
    if (total <= limit || size < smallestFile) break
    chosen.add(part)
    total += referenceSize - size
  }
  if (total > limit) {
    throw new AnetError('message_too_large', 'The names and metadata of this message take up over 250 KiB.', {
      remedy: 'Send what the metadata holds as a part, or in several messages.',
    })
  }
  return chosen
}
