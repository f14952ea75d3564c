import { AnetError } from '../errors.ts'

/** Padded length by Padmé: at most 12 % more, and it leaks O(log log length) bits of the length. */
export function padmeLength(length: number): number {
  if (length < 2) return length
  const exponent = Math.floor(Math.log2(length))
  const bits = Math.floor(Math.log2(exponent)) + 1
  const step = 2 ** Math.max(0, exponent - bits)
  return Math.ceil(length / step) * step
}

const headerBytes = 4

/** `length (u32, big endian) || bytes || zeros`, up to the Padmé length. */
export function pad(bytes: Uint8Array): Uint8Array {
  const padded = new Uint8Array(padmeLength(headerBytes + bytes.byteLength))
  new DataView(padded.buffer).setUint32(0, bytes.byteLength)
  padded.set(bytes, headerBytes)
  return padded
}

/** Undoes {@link pad}; a wrong length or non-zero padding is `message_bad_padding`. */
export function unpad(padded: Uint8Array): Uint8Array {
  const view = new DataView(padded.buffer, padded.byteOffset, padded.byteLength)
  const length = padded.byteLength < headerBytes ? -1 : view.getUint32(0)
  const end = headerBytes + length
  if (length < 0 || padmeLength(end) !== padded.byteLength || padded.subarray(end).some((byte) => byte !== 0)) {
    throw new AnetError('message_bad_padding', 'The padding of this message is wrong.')
  }
  return padded.subarray(headerBytes, end)
}
