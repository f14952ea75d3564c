import { anetKeys, type Artifact, type JsonObject, type Message, type Part } from '@shared/a2a/index.ts'
import { AnetError } from '@shared/errors.ts'
import { limits, type WireArtifact, type WireMessage, type WirePart } from '@shared/wire/index.ts'
import { type Content, type FileRef, inlineLimit, type Tx } from '../../store/index.ts'
import type { LargePart, StoredArtifact, StoredMessage, StoredPart } from '../types.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

/** Content of all parts of one message that may stay in its row; beyond it the largest parts go to files. */
const rowBudget = inlineLimit / 2

export function isLarge(part: StoredPart): part is LargePart {
  return 'large' in part
}

type Field = LargePart['large']['field']

/** The bytes that a part's content takes: of a file its own size, not that of base64. */
function contentOf(part: Part | WirePart): { field: Field; bytes: Uint8Array } {
  if (part.text !== undefined) return { field: 'text', bytes: encoder.encode(part.text) }
  if (part.raw !== undefined) {
    return { field: 'raw', bytes: typeof part.raw === 'string' ? Buffer.from(part.raw, 'base64') : part.raw }
  }
  return { field: 'data', bytes: encoder.encode(JSON.stringify(part.data)) }
}

function labels(part: { metadata?: JsonObject; filename?: string; mediaType?: string }): {
  metadata?: JsonObject
  filename?: string
  mediaType?: string
} {
  const { metadata, filename, mediaType } = part
  return {
    ...(metadata === undefined ? {} : { metadata }),
    ...(filename === undefined ? {} : { filename }),
    ...(mediaType === undefined ? {} : { mediaType }),
  }
}

/** Refuses what cannot be sent. Errors: `part_url_refused`, `part_too_large`, `message_too_large`. */
export function checkParts(parts: readonly Part[]): void {
  let total = 0
  for (const [index, part] of parts.entries()) {
    if (part.url !== undefined) {
      throw new AnetError('part_url_refused', `Part ${index} is a URL. ANet fetches nothing for a client.`, {
        remedy: 'Send the content itself, as raw or as text.',
        details: { field: `message.parts[${index}].url` },
      })
    }
    const { byteLength } = contentOf(part).bytes
    if (byteLength > limits.message.partBytes) {
      throw new AnetError(
        'part_too_large',
        `Part ${index} has ${byteLength} bytes; ${limits.message.partBytes} are allowed.`,
        {
          details: { field: `message.parts[${index}]` },
        },
      )
    }
    total += byteLength
  }
  if (total > limits.message.bytes) {
    throw new AnetError('message_too_large', `The message has ${total} bytes; ${limits.message.bytes} are allowed.`, {
      details: { field: 'message.parts' },
    })
  }
}

/** What is known of a part before the transaction: where its content lies. */
export interface PreparedParts {
  readonly parts: readonly StoredPart[]
  readonly files: readonly FileRef[]
}

/** Large content goes to sealed files first, the largest before the smaller, until the rest fits a row. */
export async function storeParts(content: Content, parts: readonly (Part | WirePart)[]): Promise<PreparedParts> {
  const contents = parts.map(contentOf)
  let left = contents.reduce((sum, { bytes }) => sum + bytes.byteLength, 0)
  const refs = new Map<number, FileRef>()
  for (const [index, { bytes }] of [...contents.entries()].toSorted(
    ([, a], [, b]) => b.bytes.byteLength - a.bytes.byteLength,
  )) {
    if (left <= rowBudget) break
    refs.set(index, await content.putFile(bytes))
    left -= bytes.byteLength
  }
  return {
    parts: parts.map((part, index) => storedPart(part, contents[index]?.field ?? 'text', refs.get(index))),
    files: [...refs.values()],
  }
}

/** Small parts, synchronously: for messages that arrive below the inline limit. */
export function storeSmallParts(parts: readonly WirePart[]): StoredPart[] {
  return parts.map((part) => storedPart(part, 'text', undefined))
}

function storedPart(part: Part | WirePart, field: Field, file: FileRef | undefined): StoredPart {
  if (file !== undefined) return { large: { field, file }, ...labels(part) }
  const { raw } = part
  if (raw === undefined || typeof raw === 'string') return part as Part
  return { ...labels(part), raw: Buffer.from(raw).toString('base64') }
}

export function keepFiles(tx: Tx, content: Content, files: readonly FileRef[]): void {
  for (const file of files) content.keepFile(tx, file)
}

/** Fills a large part in again. */
export async function materialise(content: Content, part: StoredPart): Promise<Part> {
  if (!isLarge(part)) return part
  const bytes = await content.getFile(part.large.file)
  const common = labels(part)
  switch (part.large.field) {
    case 'text':
      return { ...common, text: decoder.decode(bytes) }
    case 'raw':
      return { ...common, raw: Buffer.from(bytes).toString('base64') }
    case 'data':
      return { ...common, data: JSON.parse(decoder.decode(bytes)) as Part['data'] & {} }
  }
}

/** The form of a part in events, lists and the window: what a file is, without its bytes. */
export function describePart(part: StoredPart): Part {
  if (isLarge(part)) {
    const { field, file } = part.large
    const metadata = { ...part.metadata, [anetKeys.file]: { size: file.size, sha256: file.sha256 } }
    const { filename, mediaType } = labels(part)
    const common = {
      ...(filename === undefined ? {} : { filename }),
      ...(mediaType === undefined ? {} : { mediaType }),
      metadata,
    }
    if (field === 'raw') return { ...common, raw: '' }
    return field === 'text' ? { ...common, text: '' } : { ...common, data: null }
  }
  return part
}

export function wirePart(part: Part): WirePart {
  const { raw, url: _url, ...rest } = part
  return raw === undefined ? (rest as WirePart) : { ...labels(part), raw: Buffer.from(raw, 'base64') }
}

export function wireMessage(message: Message): WireMessage {
  return { ...message, parts: message.parts.map(wirePart) }
}

export function wireArtifact(artifact: Artifact): WireArtifact {
  return { ...artifact, parts: artifact.parts.map(wirePart) }
}

export function storedMessage(message: Omit<Message, 'parts'>, parts: readonly StoredPart[]): StoredMessage {
  return { ...message, parts }
}

export function storedArtifact(artifact: Omit<Artifact, 'parts'>, parts: readonly StoredPart[]): StoredArtifact {
  return { ...artifact, parts }
}
