import type { Artifact, Message, Part } from '@shared/a2a/index.ts'
import { AnetError } from '@shared/errors.ts'
import {
  encodeCbor,
  isTooDeep,
  limits,
  type WireArtifact,
  type WireMessage,
  type WirePart,
} from '@shared/wire/index.ts'
import type { LargePart, StoredPart } from './types.ts'

export type ContentField = LargePart['large']['field']

export function isLarge(part: StoredPart): part is LargePart {
  return 'large' in part
}

/** Which field holds the content of a part. */
export function fieldOf(part: WirePart): ContentField {
  if (part.text !== undefined) return 'text'
  return part.raw === undefined ? 'data' : 'raw'
}

/** The content as it lies in a sealed file: the bytes of a file, a text as UTF-8, data as JSON. */
export function bytesOf(part: WirePart): Uint8Array {
  if (part.raw !== undefined) return part.raw
  return Buffer.from(part.text ?? JSON.stringify(part.data))
}

/** Bytes that the content of a part takes up in a row. */
export function inlineSize(part: WirePart): number {
  if (part.raw !== undefined) return part.raw.byteLength
  return part.text === undefined ? encodeCbor(part.data).byteLength : Buffer.byteLength(part.text)
}

/**
 * Checks what a client wants to send (spec/network.md, Attachments; spec/a2a-endpoint.md, Bindings). Errors:
 * `part_url_refused`, `part_too_large`, `message_too_large` with the sizes, `content_too_deep`.
 */
export function checkParts(parts: readonly Part[]): void {
  let total = 0
  for (const [index, part] of parts.entries()) {
    if ('url' in part) {
      throw new AnetError(
        'part_url_refused',
        `Part ${index} is a url: ANet fetches nothing for a client. Send the content as raw or text.`,
        { details: { part: index } },
      )
    }
    if (isTooDeep(part.data)) {
      throw new AnetError('content_too_deep', `The values of part ${index} are nested over ${limits.depth} deep.`)
    }
    const bytes = contentSize(part)
    total += bytes
    if (bytes > limits.message.partBytes) {
      throw new AnetError(
        'part_too_large',
        `Part ${index} has ${bytes} bytes; the limit is ${limits.message.partBytes} (64 MiB).`,
        { details: { part: index, bytes, limit: limits.message.partBytes } },
      )
    }
  }
  if (total > limits.message.bytes) {
    throw new AnetError(
      'message_too_large',
      `The parts have ${total} bytes together; the limit is ${limits.message.bytes} (96 MiB).`,
      { details: { bytes: total, limit: limits.message.bytes } },
    )
  }
}

function contentSize(part: Part): number {
  if (part.raw !== undefined) return Buffer.byteLength(part.raw, 'base64')
  return Buffer.byteLength(part.text ?? JSON.stringify(part.data) ?? '')
}

/** A part as it travels: a file's content as bytes. `url` parts have no such form and were refused before. */
export function toWirePart(part: Part): WirePart {
  const { url: _refused, raw, ...rest } = part
  return raw === undefined ? rest : { ...rest, raw: plainBytes(Buffer.from(raw, 'base64')) }
}

/** A received part as the node works with it. */
export function fromWirePart(part: WirePart): Part {
  const { raw, ...rest } = part
  return raw === undefined ? rest : { ...rest, raw: base64(raw) }
}

export function toWireMessage(message: Message): WireMessage {
  return { ...message, parts: message.parts.map(toWirePart) }
}

export function toWireArtifact(artifact: Artifact): WireArtifact {
  return { ...artifact, parts: artifact.parts.map(toWirePart) }
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

/** A Uint8Array of its own kind: a Buffer's slice() shares memory, and not every decoder takes a Buffer. */
export function plainBytes(buffer: Uint8Array): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
}
