import * as dagCbor from '@ipld/dag-cbor'
import type { z } from 'zod'
import { AnetError } from '../errors.ts'
import { decodeCanonical } from './canonical.ts'
import { limits } from './limits.ts'
import { holdsTooManyValues } from './value-count.ts'
import { isWellFormedCbor } from './well-formed.ts'

/** Canonical DAG-CBOR bytes of a value (RFC 8949 deterministic form as DAG-CBOR restricts it). Throws on `undefined`. */
export function encodeCbor(value: unknown): Uint8Array {
  const bytes = dagCbor.encode(value)
  // under Node the library hands out a Buffer, whose slice() shares memory
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/**
 * Decodes canonical DAG-CBOR and nothing else: bytes that would encode differently are `statement_not_canonical`, so
 * that one value has one encoding, one digest and one signature. Bytes over `maxBytes` and too many values are
 * `statement_too_large`, bytes that are no CBOR and values nested too deep `statement_malformed`.
 */
export function decodeCbor(bytes: Uint8Array, maxBytes: number): unknown {
  if (bytes.byteLength > maxBytes) {
    throw new AnetError('statement_too_large', `${bytes.byteLength} bytes are over the limit of ${maxBytes}.`)
  }
  if (holdsTooManyValues(bytes)) {
    throw new AnetError('statement_too_large', `Over ${limits.values} values are too many for one statement.`)
  }
  const canonical = decodeCanonical(bytes)
  if (canonical !== undefined) return canonical.value
  let value: unknown
  let again: Uint8Array
  try {
    value = dagCbor.decode(bytes)
    again = dagCbor.encode(value)
  } catch (cause) {
    if (isWellFormedCbor(bytes, limits.depth)) throw notCanonical(cause)
    throw new AnetError('statement_malformed', 'These bytes are not CBOR, or nested too deep.', { cause })
  }
  if (!equalBytes(again, bytes)) throw notCanonical()
  if (isTooDeep(value)) throw new AnetError('statement_malformed', `Values are nested over ${limits.depth} deep.`)
  return value
}

function notCanonical(cause?: unknown): AnetError {
  return new AnetError('statement_not_canonical', 'These bytes are not the canonical DAG-CBOR of a value.', { cause })
}

/** True if lists and maps lie in each other more than `limits.depth` deep: what recurses over them could not end. */
export function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limits.depth) return true
    level = level.flatMap(children)
  }
  return false
}

function children(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return []
  return Object.values(value).filter((child) => typeof child === 'object' && child !== null)
}

/** Parses a decoded value; what does not fit is `statement_malformed`. Fields without a name in the schema are ignored. */
export function parseValue<S extends z.ZodType>(schema: S, value: unknown): z.infer<S> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const field = issue?.path.map(String).join('.') ?? ''
  throw new AnetError('statement_malformed', `Field "${shorten(field)}": ${shorten(issue?.message ?? 'unreadable')}.`)
}

/**
 * Parses a decoded value. Fields that the schema does not name are ignored, unless the value lists them in `must`:
 * then it may not be understood without them and is refused as `statement_must_understand`.
 */
export function parseStatement<S extends z.ZodObject>(schema: S, value: unknown): z.infer<S> {
  const parsed = parseValue(schema, value)
  const must = (value as { must?: unknown }).must
  if (must !== undefined) {
    const names: unknown[] = Array.isArray(must) ? must : [must]
    const unknown = names.find((name) => typeof name !== 'string' || !Object.hasOwn(schema.shape, name))
    if (!Array.isArray(must) || unknown !== undefined) {
      const name = typeof unknown === 'string' ? shorten(unknown) : 'must'
      throw new AnetError('statement_must_understand', `This statement needs a newer version: unknown field "${name}".`)
    }
  }
  return parsed
}

/** What strangers wrote does not fill a log or a message. */
function shorten(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 100)}…`
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.byteLength !== b.byteLength) return false
  for (let i = 0; i < a.byteLength; i += 1) if (a[i] !== b[i]) return false
  return true
}
