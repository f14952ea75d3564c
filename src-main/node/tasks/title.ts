import type { WirePart } from '@shared/wire/index.ts'

const length = 120

/** First 120 characters of the first text part; empty if there is none. */
export function titleOf(parts: readonly Pick<WirePart, 'text'>[]): string {
  const text = parts.find((part) => part.text !== undefined)?.text ?? ''
  // by code points: half of a character has no encoding
  return Array.from(text.slice(0, 2 * length))
    .slice(0, length)
    .join('')
}
