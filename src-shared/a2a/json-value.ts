import { z } from 'zod'

export type JsonValue = z.core.util.JSONType
export type JsonObject = Record<string, JsonValue>

/** Deeper than any limit on what comes in, and far less than what a stack holds. */
const maxDepth = 256

/**
 * Any JSON value: no infinity, no bytes, no object of a class. Looked at in one walk that copies nothing: zod's own
 * schema takes some twenty times as long, and a peer's message may hold a million values. A member named `__proto__` is
 * dropped.
 */
export const jsonValueSchema = z
  .custom<JsonValue>((value) => isJsonValue(value, 0), 'must be a JSON value')
  .overwrite(withoutProto)

/** A JSON object, as {@link jsonValueSchema}. */
export const jsonObjectSchema = z
  .custom<JsonObject>((value) => isPlainObject(value) && isJsonValue(value, 0), 'must be a JSON object')
  .overwrite(withoutProto)

function isJsonValue(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true
    case 'number':
      return Number.isFinite(value)
    case 'object':
      break
    default:
      return false
  }
  if (value === null) return true
  if (depth >= maxDepth) return false
  if (Array.isArray(value)) {
    for (const item of value) if (!isJsonValue(item, depth + 1)) return false
    return true
  }
  if (!isPlainObject(value)) return false
  for (const item of Object.values(value)) if (!isJsonValue(item, depth + 1)) return false
  return true
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** The same value, or a copy without those members: whoever copies objects member by member would set a prototype. */
function withoutProto<T extends JsonValue>(value: T): T {
  return hasProto(value) ? (cleaned(value) as T) : value
}

function hasProto(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (!Array.isArray(value) && Object.hasOwn(value, '__proto__')) return true
  for (const item of Object.values(value)) if (hasProto(item)) return true
  return false
}

function cleaned(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(cleaned)
  const members = Object.entries(value).filter(([name]) => name !== '__proto__')
  return Object.fromEntries(members.map(([name, item]) => [name, cleaned(item)]))
}
