import { encodeCbor, type Inner, type KeyHistory, type Signed } from '@shared/wire/index.ts'

/** An inner message without its body. */
export interface InnerFields extends Readonly<Omit<Inner, 'body' | 'history' | 'keyset'>> {
  readonly history: KeyHistory
  readonly keyset: Signed
}

/**
 * Canonical DAG-CBOR of an inner message whose body is already encoded: equal to `encodeCbor({...fields, body})`, with
 * one copy of the body instead of a decoding and an encoding. DAG-CBOR orders keys by length, then bytes.
 */
export function encodeInner(fields: InnerFields, rawBody: Uint8Array): Uint8Array {
  const entries: [string, Uint8Array][] = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => [key, encodeCbor(value)])
  entries.push(['body', rawBody])
  entries.sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1))
  // a map of fewer than 24 entries has a header of one byte
  const pieces: Uint8Array[] = [Uint8Array.of(0xa0 + entries.length)]
  for (const [key, value] of entries) pieces.push(encodeCbor(key), value)
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.byteLength, 0))
  let offset = 0
  for (const piece of pieces) {
    bytes.set(piece, offset)
    offset += piece.byteLength
  }
  return bytes
}
