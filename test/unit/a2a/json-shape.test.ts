import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { JsonShape } from '../../../src-main/node/modules/a2a/json-shape.ts'

function shapeOf(text: string, cuts: readonly number[] = []): { values: number; depth: number } {
  const bytes = Buffer.from(text)
  const shape = new JsonShape()
  let from = 0
  for (const cut of cuts.map((each) => each % (bytes.byteLength + 1)).toSorted((a, b) => a - b)) {
    shape.push(bytes.subarray(from, cut))
    from = cut
  }
  shape.push(bytes.subarray(from))
  return { values: shape.values, depth: shape.depth }
}

/** The same from the value itself. */
function expectedOf(value: unknown): { values: number; depth: number } {
  let values = 1
  const depthOf = (each: unknown): number => {
    if (typeof each !== 'object' || each === null) return 0
    const items: unknown[] = Object.values(each)
    values += 1 + Math.max(0, items.length - 1)
    return 1 + Math.max(0, ...items.map(depthOf))
  }
  const depth = depthOf(value)
  return { values, depth }
}

describe('the shape of a JSON text', () => {
  test('is that of its value, wherever the text is cut', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), fc.array(fc.nat(10_000), { maxLength: 8 }), (value, cuts) => {
        expect(shapeOf(JSON.stringify(value), cuts)).toEqual(expectedOf(value))
      }),
      { numRuns: 1000 },
    )
  })

  test.each([
    [String.raw`["\"[[[", "\\", [ "\\\"]" ]]`, 5, 2],
    [String.raw`{"a\\":[1,2],"b\\\"":{}}`, 6, 2],
    ['"[[[[,,,,"', 1, 0],
    ['', 1, 0],
    ['[[[', 4, 3],
    ['"[[[', 1, 0],
  ])('%s', (text, values, depth) => {
    for (let cut = 0; cut <= text.length; cut += 1) expect(shapeOf(text, [cut])).toEqual({ values, depth })
  })

  test('a long text costs no more than looking for its end', () => {
    const shape = new JsonShape()
    shape.push(Buffer.from(`"${String.raw`\\`.repeat(8 * 1024 * 1024)}",[]`))
    expect(shape.values).toBe(3)
  })
})
