import * as dagCbor from '@ipld/dag-cbor'
import type { z } from 'zod'
import { AnetError } from '../errors.ts'

/** Canonical DAG-CBOR bytes of a value (RFC 8949 deterministic form as DAG-CBOR restricts it). Throws on `undefined`. */
export function encodeCbor(value: unknown): Uint8Array {
  return dagCbor.encode(value)
}

/**
 * Decodes canonical DAG-CBOR and nothing else: bytes that would encode differently are `statement_not_canonical`, so
 * that one value has one encoding, one digest and one signature. Bytes over `maxBytes` are `statement_too_large`.
 */
export function decodeCbor(bytes: Uint8Array, maxBytes: number): unknown {
  if (bytes.byteLength > maxBytes) {
    throw new AnetError('statement_too_large', `${bytes.byteLength} bytes are over the limit of ${maxBytes}.`)
  }
  let value: unknown
  try {
    value = dagCbor.decode(bytes)
  } catch (cause) {
    throw new AnetError('statement_malformed', 'These bytes are not DAG-CBOR.', { cause })
  }
  if (!equalBytes(dagCbor.encode(value), bytes)) {
    throw new AnetError('statement_not_canonical', 'These bytes are not the canonical encoding of their value.')
  }
  return value
}

/**
 * Parses a decoded value. Fields that the schema does not name are ignored, unless the value lists them in `must`:
 * then it may not be understood without them and is refused as `statement_must_understand`.
 */
export function parseStatement<S extends z.ZodObject>(schema: S, value: unknown): z.infer<S> {
  const parsed = schema.safeParse(value)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    throw new AnetError(
      'statement_malformed',
      `Field "${issue?.path.join('.') ?? ''}": ${issue?.message ?? 'unreadable'}.`,
    )
  }
  const must = (value as { must?: unknown }).must
  if (must !== undefined) {
    const unknown = Array.isArray(must) ? must.filter((name) => !(String(name) in schema.shape)) : [must]
    if (unknown.length > 0) {
      throw new AnetError(
        'statement_must_understand',
        `This statement needs a newer version: unknown field "${String(unknown[0])}".`,
      )
    }
  }
  return parsed.data
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.byteLength !== b.byteLength) return false
  for (let i = 0; i < a.byteLength; i += 1) if (a[i] !== b[i]) return false
  return true
}
