import { AnetError } from '@shared/errors.ts'
import { encodeBody, encodeCbor, limits, type Body, type MessageType } from '@shared/wire/index.ts'
import { inlineLimit, type FileRef, type Store } from '../store/index.ts'
import type { PreparedBody } from './types.ts'

/** Room in a message for everything but the body: history, key set, signature, names and numbers. */
const framing = limits.history.bytes + limits.keySet.bytes + 16 * 1024
/** Largest encoded body that still fits into a padded message (Padmé adds at most 12 %). */
export const maxBodyBytes = Math.floor((limits.message.bytes - framing) / 1.12)

/** What a {@link PreparedBody} is inside the network floor. */
export interface EncodedBody {
  readonly type: MessageType
  /** Bytes of `encodeBody`. */
  readonly size: number
  readonly content: { readonly inline: Uint8Array } | { readonly file: FileRef }
}

export function encodedBody<T extends MessageType>(body: PreparedBody<T>): EncodedBody {
  return body as unknown as EncodedBody
}

/** Encodes and, above the inline limit, writes a sealed file. Errors: `message_too_large`. */
export async function prepareBody<T extends MessageType>(
  store: Store,
  type: T,
  body: Body<T>,
): Promise<PreparedBody<T>> {
  const bytes = encode(type, body)
  const content = bytes.byteLength > inlineLimit ? { file: await store.content.putFile(bytes) } : { inline: bytes }
  return { type, size: bytes.byteLength, content } satisfies EncodedBody as unknown as PreparedBody<T>
}

/** For small bodies, without waiting. Errors: `content_too_large`. */
export function smallBody<T extends MessageType>(type: T, body: Body<T>): PreparedBody<T> {
  const bytes = encode(type, body)
  if (bytes.byteLength > inlineLimit)
    throw new AnetError('content_too_large', `A body of ${bytes.byteLength} bytes has to be prepared as a file.`)
  return {
    type,
    size: bytes.byteLength,
    content: { inline: bytes },
  } satisfies EncodedBody as unknown as PreparedBody<T>
}

function encode(type: MessageType, body: unknown): Uint8Array {
  const bytes = encodeBody(type, body)
  if (bytes.byteLength > maxBodyBytes) {
    throw new AnetError(
      'message_too_large',
      `This message has ${bytes.byteLength} bytes; the limit is ${maxBodyBytes}.`,
      {
        remedy: 'Send the content in several messages.',
      },
    )
  }
  return bytes
}

const bodyHeader = Uint8Array.from([0xa2, ...encodeCbor('body')])
const typeKey = encodeCbor('type')

/**
 * The encoded body inside the encoding of `{body, type}` (encodeBody): a large body is put into its message as it is
 * stored, without decoding it.
 */
export function rawBodyOf(encoded: Uint8Array, type: MessageType): Uint8Array {
  return encoded.subarray(bodyHeader.byteLength, encoded.byteLength - typeKey.byteLength - encodeCbor(type).byteLength)
}
