import { encodeCbor } from '@shared/wire/index.ts'

/**
 * DAG-CBOR put together from parts that are encoded already: stored statements and envelopes leave the hub as the bytes
 * in which they came, neither decoded nor copied. The caller gives map entries in canonical order (shorter keys first).
 */
export type RawCbor = readonly Uint8Array[]

export function rawMap(...entries: readonly (readonly [key: string, value: RawCbor])[]): RawCbor {
  return [head(5, entries.length), ...entries.flatMap(([key, value]) => [encodeCbor(key), ...value])]
}

export function rawArray(items: readonly RawCbor[]): RawCbor {
  return [head(4, items.length), ...items.flat()]
}

export function rawValue(value: unknown): RawCbor {
  return [encodeCbor(value)]
}

/** Head of a byte string of `length` bytes; the bytes themselves follow it. */
export function bytesHead(length: number): Uint8Array {
  return head(2, length)
}

export function joinRaw(raw: RawCbor): Uint8Array {
  return Buffer.concat(raw)
}

export function rawLength(raw: RawCbor): number {
  return raw.reduce((sum, part) => sum + part.byteLength, 0)
}

function head(major: number, count: number): Uint8Array {
  const type = major << 5
  if (count < 24) return Uint8Array.of(type | count)
  if (count < 0x100) return Uint8Array.of(type | 24, count)
  if (count < 0x10000) return Uint8Array.of(type | 25, count >> 8, count & 0xff)
  return Uint8Array.of(type | 26, count >>> 24, (count >> 16) & 0xff, (count >> 8) & 0xff, count & 0xff)
}
