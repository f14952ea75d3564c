import { isAnetError } from '@shared/errors.ts'

/**
 * Names of fields whose values are never logged. Own code instead of pino's redaction, which takes exact paths only:
 * a secret must not come through because it lies one level deeper or is named `hubToken`.
 */
const secretName =
  /token|secret|passw|phrase|authorization|cookie|credential|seed|mnemonic|^words$|^(?!.*(public|fingerprint)).*key$/i
const maxDepth = 6

/** A copy without secrets; bytes are told by their number only. */
export function redacted(fields: Record<string, unknown>): Record<string, unknown> {
  return copyOf(fields, 0)
}

/** What is logged of an error: never its other fields, which may hold anything. */
export function logError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {}
  const details = isAnetError(error) && error.details !== undefined ? { details: copyOf(error.details, 0) } : {}
  const cause = error.cause === undefined ? {} : { cause: logError(error.cause) }
  return { type: error.name, message: error.message, ...code, ...details, stack: error.stack, ...cause }
}

function copyOf(fields: Readonly<Record<string, unknown>>, depth: number): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, secretName.test(name) ? '[redacted]' : plain(value, depth)]),
  )
}

function plain(value: unknown, depth: number): unknown {
  if (value instanceof Uint8Array) return `<${value.byteLength} bytes>`
  // pino serialises errors under `err` with logError; elsewhere they are serialised here
  if (value instanceof Error) return logError(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth === maxDepth) return '<deep>'
  if (Array.isArray(value)) return value.map((entry) => plain(entry, depth + 1))
  return copyOf(value as Record<string, unknown>, depth + 1)
}
