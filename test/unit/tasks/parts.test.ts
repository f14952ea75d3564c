import { describe, expect, it } from 'vitest'
import type { Part } from '@shared/a2a/index.ts'
import { checkParts, fromWirePart, toWirePart } from '../../../src-main/node/tasks/parts.ts'
import { titleOf } from '../../../src-main/node/tasks/title.ts'

const MiB = 1024 * 1024

/** base64 of this many zero bytes, without making them. */
function base64(bytes: number): string {
  return `${'A'.repeat(Math.ceil(bytes / 3) * 4 - [0, 2, 1][bytes % 3]!)}${'='.repeat([0, 2, 1][bytes % 3]!)}`
}

describe('what may be sent', () => {
  it('is everything up to 64 MiB a part', () => {
    expect(() => checkParts([{ raw: base64(64 * MiB) }])).not.toThrow()
    expect(() => checkParts([{ raw: base64(64 * MiB + 1) }])).toThrow(
      expect.objectContaining({ code: 'part_too_large', details: { part: 0, bytes: 64 * MiB + 1, limit: 64 * MiB } }),
    )
  })

  it('counts bytes of UTF-8, not characters', () => {
    expect(() => checkParts([{ text: 'é'.repeat(32 * MiB + 1) }])).toThrow(
      expect.objectContaining({ code: 'part_too_large' }),
    )
  })

  it('is up to 96 MiB in all', () => {
    const parts = [{ raw: base64(48 * MiB) }, { raw: base64(48 * MiB) }]
    expect(() => checkParts(parts)).not.toThrow()
    expect(() => checkParts([...parts, { text: 'x' }])).toThrow(expect.objectContaining({ code: 'message_too_large' }))
  })

  it('is no url: the node fetches nothing', () => {
    expect(() => checkParts([{ text: 'see' }, { url: 'https://example.org/' }])).toThrow(
      expect.objectContaining({ code: 'part_url_refused', details: { part: 1 } }),
    )
  })

  it('is nothing that nests without end', () => {
    let data: Part['data'] = 1
    for (let depth = 0; depth < 1000; depth += 1) data = [data ?? null]
    expect(() => checkParts([{ data: data ?? null }])).toThrow(expect.objectContaining({ code: 'content_too_deep' }))
  })
})

describe('a part on the way', () => {
  const parts: Part[] = [
    { text: 'hello', metadata: { a: 1 } },
    { raw: 'AAECAw==', filename: 'a.bin', mediaType: 'application/octet-stream' },
    { raw: '' },
    { data: null },
    { data: { deep: [1, 'x', true] } },
  ]
  it.each(parts)('is the same at the other end: %j', (part) => {
    expect(fromWirePart(toWirePart(part))).toEqual(part)
  })
})

describe('the title of a task', () => {
  it('is the beginning of its first text', () => {
    expect(titleOf([{}, { text: 'one' }, { text: 'two' }])).toBe('one')
    expect(titleOf([{ text: 'x'.repeat(500) }])).toHaveLength(120)
    expect(titleOf([{}])).toBe('')
  })

  it('does not end in half a character', () => {
    expect(titleOf([{ text: `${'x'.repeat(119)}😀😀` }])).toBe(`${'x'.repeat(119)}😀`)
  })
})
