/** Deeper than this, or with rarer kinds of values, a block is left to the library. */
const maxDepth = 32
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Thrown and caught here only: the bytes are not canonical, or hold something that this decoder leaves to others. */
class Unfit extends Error {}

/**
 * Decodes DAG-CBOR and checks in the same pass that it is canonical: shortest heads, keys of maps in order, no value
 * that has a shorter form. Returns undefined for everything else and for links (tag 42), integers beyond 2^53 and deep
 * nesting, which are left to the library: this decoder only saves decoding, encoding again and comparing.
 */
export function decodeCanonical(bytes: Uint8Array): { readonly value: unknown } | undefined {
  // a plain view: of a Buffer, slice() would share its memory
  const reader = new CanonicalReader(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  try {
    const value = reader.read(0)
    return reader.atEnd ? { value } : undefined
  } catch (error) {
    if (error instanceof Unfit || error instanceof RangeError || error instanceof TypeError) return undefined
    throw error
  }
}

class CanonicalReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get atEnd(): boolean {
    return this.#at === this.#bytes.byteLength
  }

  read(depth: number): unknown {
    if (depth > maxDepth) throw new Unfit()
    const first = this.#view.getUint8(this.#at)
    const major = first >> 5
    if (major === 7) return this.#simple(first)
    const count = this.#count()
    switch (major) {
      case 0:
        return count
      case 1:
        return this.#safe(-1 - count)
      case 2:
        return this.#take(count).slice()
      case 3:
        return this.#text(count)
      case 4:
        return this.#array(count, depth)
      case 5:
        return this.#map(count, depth)
      default:
        throw new Unfit()
    }
  }

  /** The count in a head, which has to be the shortest one for it. */
  #count(): number {
    const info = this.#view.getUint8(this.#at) & 0x1f
    this.#at += 1
    if (info < 24) return info
    if (info === 24) return this.#atLeast(24, this.#view.getUint8(this.#at), 1)
    if (info === 25) return this.#atLeast(0x100, this.#view.getUint16(this.#at), 2)
    if (info === 26) return this.#atLeast(0x10000, this.#view.getUint32(this.#at), 4)
    if (info !== 27) throw new Unfit()
    const high = this.#view.getUint32(this.#at)
    return this.#safe(this.#atLeast(0x1_0000_0000, high * 0x1_0000_0000 + this.#view.getUint32(this.#at + 4), 8))
  }

  #atLeast(least: number, count: number, size: number): number {
    if (count < least) throw new Unfit()
    this.#at += size
    return count
  }

  #safe(integer: number): number {
    if (!Number.isSafeInteger(integer)) throw new Unfit()
    return integer
  }

  #simple(first: number): unknown {
    this.#at += 1
    if (first === 0xf4) return false
    if (first === 0xf5) return true
    if (first === 0xf6) return null
    if (first !== 0xfb) throw new Unfit()
    const float = this.#view.getFloat64(this.#at)
    this.#at += 8
    // a safe integer has a shorter form, and other numbers than finite ones have none
    if (!Number.isFinite(float) || Number.isSafeInteger(float)) throw new Unfit()
    return float
  }

  #take(length: number): Uint8Array {
    const end = this.#at + length
    if (end > this.#bytes.byteLength) throw new Unfit()
    const taken = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return taken
  }

  #text(length: number): string {
    const taken = this.#take(length)
    if (length > 64) return utf8.decode(taken)
    let text = ''
    for (let at = 0; at < length; at += 1) {
      const byte = taken[at] ?? 0
      if (byte > 0x7f) return utf8.decode(taken)
      text += String.fromCharCode(byte)
    }
    return text
  }

  #array(length: number, depth: number): unknown[] {
    const items: unknown[] = []
    for (let at = 0; at < length; at += 1) items.push(this.read(depth + 1))
    return items
  }

  #map(size: number, depth: number): Record<string, unknown> {
    const map: Record<string, unknown> = {}
    let before: Uint8Array | undefined
    for (let at = 0; at < size; at += 1) {
      if (this.#view.getUint8(this.#at) >> 5 !== 3) throw new Unfit()
      const length = this.#count()
      const from = this.#at
      const key = this.#text(length)
      const bytes = this.#bytes.subarray(from, this.#at)
      if (key === '__proto__' || (before !== undefined && !follows(before, bytes))) throw new Unfit()
      before = bytes
      map[key] = this.read(depth + 1)
    }
    return map
  }
}

/** The order of keys in DAG-CBOR: the shorter one first, then by bytes. */
function follows(before: Uint8Array, key: Uint8Array): boolean {
  if (before.byteLength !== key.byteLength) return before.byteLength < key.byteLength
  for (let at = 0; at < key.byteLength; at += 1) {
    const difference = (key[at] ?? 0) - (before[at] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return false
}
