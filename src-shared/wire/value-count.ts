import { limits } from './limits.ts'

/**
 * True if an encoding holds more values than {@link limits.values}: a list of empty lists takes up forty times its size
 * when it is decoded. Heads are counted one after the other, nothing is built, and a few bytes are never looked at.
 */
export function holdsTooManyValues(bytes: Uint8Array, most: number = limits.values): boolean {
  if (bytes.byteLength <= most) return false
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let count = 0
  let at = 0
  while (at < bytes.byteLength) {
    count += 1
    if (count > most) return true
    const head = view.getUint8(at)
    const major = head >> 5
    const info = head & 0x1f
    const size = info < 24 || info > 27 ? 0 : 1 << (info - 24)
    at += 1
    if (major === 2 || major === 3) {
      if (at + size > bytes.byteLength) return false
      at += lengthOf(view, at, info)
    }
    at += size
  }
  return false
}

/** Length of a string by its head; what is no head of a string of known length counts as empty. */
function lengthOf(view: DataView, at: number, info: number): number {
  switch (info) {
    case 24:
      return view.getUint8(at)
    case 25:
      return view.getUint16(at)
    case 26:
      return view.getUint32(at)
    case 27:
      return view.getUint32(at) * 2 ** 32 + view.getUint32(at + 4)
    default:
      return info < 24 ? info : 0
  }
}
