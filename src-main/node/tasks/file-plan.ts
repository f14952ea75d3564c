import { AnetError } from '@shared/errors.ts'
import { encodeCbor, type WirePart } from '@shared/wire/index.ts'
import { inlineLimit } from '../store/index.ts'
import { inlineSize } from './parts.ts'

/** Parts from this size on have a file of their own; smaller ones share files up to the second size. */
const ownFile = 256 * 1024
const sharedFile = 1024 * 1024
/** Smaller content is not worth its reference. */
const smallest = 128
/** What a reference takes up in a row, at most: of a part alone in its file, and of one that shares it. */
const ownReference = 224
const sharedReference = 112
/** Room for what a row holds beside the message: a client's name, and the table of shared files. */
const roomForRest = 24 * 1024

/**
 * Which parts of a message or an artifact go to sealed files: the largest ones, as many as it takes for the rest to fit
 * into a row. Each list is one file. Errors: `message_too_large` if names and metadata alone do not fit.
 */
export function planFiles(holder: { readonly parts: readonly WirePart[] }): readonly (readonly WirePart[])[] {
  const sizes = new Map(holder.parts.map((part) => [part, inlineSize(part)]))
  const frame = encodeCbor({ ...holder, parts: holder.parts.map(withoutContent) }).byteLength
  let total = frame
  for (const size of sizes.values()) total += size + 16
  const limit = inlineLimit - roomForRest
  const chosen = new Set<WirePart>()
  if (total > limit) {
    for (const [part, size] of [...sizes].toSorted(([, a], [, b]) => b - a)) {
      if (total <= limit || size < smallest) break
      chosen.add(part)
      total += (size >= ownFile ? ownReference : sharedReference) - size
    }
  }
  if (total > limit) {
    throw new AnetError('message_too_large', 'The names and metadata of this message take up over 200 KiB.', {
      remedy: 'Send what the metadata holds as a part, or in several messages.',
    })
  }
  return filesFor(holder.parts, sizes, chosen)
}

function filesFor(
  parts: readonly WirePart[],
  sizes: ReadonlyMap<WirePart, number>,
  chosen: ReadonlySet<WirePart>,
): WirePart[][] {
  const files: WirePart[][] = []
  let shared: WirePart[] = []
  let room = 0
  for (const part of parts) {
    if (!chosen.has(part)) continue
    const size = sizes.get(part) ?? 0
    if (size >= ownFile) {
      files.push([part])
      continue
    }
    if (size > room) {
      shared = []
      files.push(shared)
      room = sharedFile
    }
    shared.push(part)
    room -= size
  }
  return files
}

function withoutContent({ metadata = {}, filename = '', mediaType = '' }: WirePart): object {
  return { metadata, filename, mediaType }
}
