import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { jsonObjectSchema, jsonValueSchema, partSchema } from '@shared/a2a/index.ts'

describe('JSON values', () => {
  test('are what JSON can say, and come through as they are', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const parsed = jsonValueSchema.parse(JSON.parse(JSON.stringify(value)))
        expect(parsed).toEqual(z.json().parse(JSON.parse(JSON.stringify(value))))
      }),
    )
  })

  test.each([
    ['an infinity', [Infinity]],
    ['bytes', { a: new Uint8Array(2) }],
    ['a date', [new Date()]],
    ['undefined', { a: undefined }],
    ['a large integer', [1n]],
    ['a hole', [1, , 2]], // oxlint-disable-line no-sparse-arrays
    ['a function', [() => 1]],
  ])('%s is none', (_name, value) => {
    expect(jsonValueSchema.safeParse(value).success).toBe(false)
  })

  test.each([[[]], ['text'], [1], [null], [new Map()]])('%j is no object', (value) => {
    expect(jsonObjectSchema.safeParse(value).success).toBe(false)
  })

  test('nesting on which a stack would run out is refused', () => {
    let value: unknown = 1
    for (let depth = 0; depth < 100_000; depth += 1) value = [value]
    expect(partSchema.safeParse({ data: value }).success).toBe(false)
  })

  test('a member named __proto__ is dropped and changes nothing', () => {
    const value: unknown = JSON.parse('{"a":[{"__proto__":{"polluted":true},"b":1}],"__proto__":[]}')
    const parsed = jsonObjectSchema.parse(value)
    expect(JSON.stringify(parsed)).toBe('{"a":[{"b":1}]}')
    expect(Reflect.get(parsed, 'polluted')).toBeUndefined()
  })
})
