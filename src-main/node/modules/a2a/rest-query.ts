import { requestShapes } from '@shared/a2a/index.ts'

const camel = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/**
 * Query parameters as a request in ProtoJSON: names in camelCase or snake_case, booleans as `true` and `false`; a
 * parameter without a value counts as absent. Integers stay texts, which ProtoJSON allows. Unknown names are dropped.
 */
export function queryParameters(query: string): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  if (query === '') return result
  for (const [name, value] of new URLSearchParams(query)) {
    const field = camel(name)
    if (value === '' || !Object.hasOwn(requestShapes.listTasks.fields, field)) continue
    result[field] = field === 'includeArtifacts' ? booleanOf(value) : value
  }
  return result
}

function booleanOf(text: string): boolean | string {
  if (text === 'true' || text === '1') return true
  return text === 'false' || text === '0' ? false : text
}
