/**
 * Whether `bytes` are one well-formed CBOR item (RFC 8949, appendix C) of whatever form, nested at most `maxDepth` deep.
 * Tells bytes that say something in another form than the canonical one from bytes that say nothing. Not recursive.
 */
export function isWellFormedCbor(bytes: Uint8Array, maxDepth: number): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  // what is still open: a count of items, or a list of unknown length that ends with a break
  const open: { left: number; endless: 'string' | 'list' | 'map' | undefined; major: number }[] = []
  do {
    if (at >= bytes.byteLength || open.length > maxDepth) return false
    const major = (bytes[at] ?? 0) >> 5
    const info = (bytes[at] ?? 0) & 0x1f
    at += 1
    const around = open.at(-1)
    if (major === 7 && info === 31) {
      if (around?.endless === undefined || (around.endless === 'map' && around.left % 2 !== 0)) return false
      open.pop()
    } else {
      if (around?.endless === 'string' && (around.major !== major || info === 31)) return false
      if (around !== undefined) around.left -= 1
      const size = info < 24 ? 0 : info < 28 ? 1 << (info - 24) : -1
      if (info === 31 && major >= 2 && major <= 5) {
        open.push({ left: 0, endless: major < 4 ? 'string' : major === 4 ? 'list' : 'map', major })
        continue
      }
      if (size < 0 || at + size > bytes.byteLength) return false
      if (major === 7 && info === 24 && (bytes[at] ?? 0) < 32) return false
      const count = size === 0 ? info : readCount(view, at, size)
      at += size
      if (major === 2 || major === 3) at += count
      if (at > bytes.byteLength) return false
      const items = major === 4 ? count : major === 5 ? 2 * count : major === 6 ? 1 : 0
      if (items > 0) open.push({ left: items, endless: undefined, major })
    }
    while (open.at(-1)?.endless === undefined && open.at(-1)?.left === 0) open.pop()
  } while (open.length > 0)
  return at === bytes.byteLength
}

function readCount(view: DataView, at: number, size: number): number {
  if (size === 1) return view.getUint8(at)
  if (size === 2) return view.getUint16(at)
  if (size === 4) return view.getUint32(at)
  return view.getUint32(at) * 2 ** 32 + view.getUint32(at + 4)
}
