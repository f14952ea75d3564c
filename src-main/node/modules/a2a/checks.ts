import type { HeaderFacts } from '../../loopback/index.ts'

const jsonTypes = /^application\/(?:a2a\+)?json[\t ]*(?:;(.*))?$/i

/** application/json or application/a2a+json; a charset, if one is named, is UTF-8. */
export function isJsonContent(facts: HeaderFacts): boolean {
  if (facts.contentType === 'application/json' && facts.contentTypes === 1) return facts.contentEncoding === ''
  if (facts.contentTypes !== 1) return false
  if (facts.contentEncoding !== '' && facts.contentEncoding.trim().toLowerCase() !== 'identity') return false
  const match = jsonTypes.exec(facts.contentType.trim())
  if (match === null) return false
  const charset = /(?:^|;)\s*charset\s*=\s*"?([^";\s]*)"?/i.exec(match[1] ?? '')?.[1]
  return charset === undefined || /^utf-?8$/i.test(charset)
}

/**
 * The protocol version that the client names, in the header or else in the query. Major version 1 in any form is
 * served, absent is too (seed, Request checks).
 */
export function isServedVersion(facts: HeaderFacts, query: string): boolean {
  const version = facts.version === '' ? versionInQuery(query) : facts.version.trim()
  return version === '' || /^1(?:\.\d{1,9}){0,2}$/.test(version)
}

function versionInQuery(query: string): string {
  if (query === '' || !query.toLowerCase().includes('a2a-version')) return ''
  for (const [name, value] of new URLSearchParams(query)) if (name.toLowerCase() === 'a2a-version') return value.trim()
  return ''
}

/** The extensions that the client activates, compared exactly with those that are there. */
export function activatedExtensions(facts: HeaderFacts, offered: readonly string[]): readonly string[] {
  if (facts.extensions === '') return []
  const asked = new Set(facts.extensions.split(',').map((uri) => uri.trim()))
  return offered.filter((uri) => asked.has(uri))
}
