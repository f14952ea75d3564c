import { isAnetError } from '@shared/errors.ts'
import { type Aid, decodeEnvelope } from '@shared/wire/index.ts'
import { HubError } from '../errors.ts'

// map head (6 to 23 entries), "p": "anet/1", "ct": the first two entries in canonical order
const beginning = Uint8Array.from([0x61, 0x70, 0x66, 0x61, 0x6e, 0x65, 0x74, 0x2f, 0x31, 0x62, 0x63, 0x74])
const ciphertextHeadAt = 1 + beginning.byteLength
const maxHeadBytes = ciphertextHeadAt + 5
const maxTailBytes = 4096
const tagBytes = 16

/**
 * Reads the header of an envelope that comes in pieces. The ciphertext is counted, not kept; what is around it is
 * decoded by the same decoder as the whole envelope, with an empty ciphertext in its place. Error: `bad_request`.
 */
export class EnvelopeScanner {
  #head = new Uint8Array(0)
  #tail = new Uint8Array(0)
  /** Bytes of ciphertext still to come, or undefined before its head was read. */
  #rest: number | undefined

  push(piece: Uint8Array): void {
    let left = piece
    if (this.#rest === undefined) {
      const missing = maxHeadBytes - this.#head.byteLength
      const head = join(this.#head, left.subarray(0, missing))
      this.#head = head
      if (head.byteLength < maxHeadBytes) return
      const { length, size } = ciphertextHead(head)
      // up to four bytes of ciphertext were taken into the head
      this.#rest = length - (maxHeadBytes - ciphertextHeadAt - size)
      left = left.subarray(missing)
    }
    const ciphertext = Math.min(this.#rest, left.byteLength)
    this.#rest -= ciphertext
    if (ciphertext === left.byteLength) return
    if (this.#tail.byteLength + left.byteLength - ciphertext > maxTailBytes) throw malformed('its header is too long')
    this.#tail = join(this.#tail, left.subarray(ciphertext))
  }

  /** After the last piece: to whom the envelope goes. */
  finish(): Aid {
    if (this.#rest !== 0) throw malformed('it ends too early')
    const whole = join(this.#head.subarray(0, ciphertextHeadAt), Uint8Array.of(0x40), this.#tail)
    try {
      return decodeEnvelope(whole).to
    } catch (error) {
      throw isAnetError(error) ? malformed(error.message) : error
    }
  }
}

function ciphertextHead(head: Uint8Array): { length: number; size: number } {
  const first = head[0] ?? 0
  if (first < 0xa6 || first > 0xb7 || beginning.some((byte, at) => head[at + 1] !== byte)) {
    throw malformed('it does not begin like one')
  }
  const view = new DataView(head.buffer, head.byteOffset + ciphertextHeadAt)
  const kind = view.getUint8(0)
  const [length, size, least] =
    kind >= 0x40 && kind <= 0x57
      ? [kind - 0x40, 1, 0]
      : kind === 0x58
        ? [view.getUint8(1), 2, 24]
        : kind === 0x59
          ? [view.getUint16(1), 3, 0x100]
          : kind === 0x5a
            ? [view.getUint32(1), 5, 0x10000]
            : [0, 0, 0]
  if (length < tagBytes || length < least) throw malformed('its ciphertext is not canonical or too short')
  return { length, size }
}

function malformed(why: string): HubError {
  return new HubError('bad_request', `This is not an envelope: ${why}`.slice(0, 1000))
}

function join(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.byteLength
  }
  return whole
}
