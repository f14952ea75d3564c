import { describe, expect, it } from 'vitest'
import type { WirePart } from '@shared/wire/index.ts'
import { planFiles } from '../../../src-main/node/tasks/file-plan.ts'

const KiB = 1024

function text(length: number): WirePart {
  return { text: 'x'.repeat(length) }
}

/** Sizes of the parts of each file. */
function plan(parts: readonly WirePart[], metadata = {}): number[][] {
  return planFiles({ parts, ...metadata }).map((file) => file.map((part) => part.text?.length ?? 0))
}

describe('what goes to files', () => {
  it('is nothing that fits into a row', () => {
    expect(plan([text(100), text(200 * KiB)])).toEqual([])
  })

  it('is the largest parts, until the rest fits', () => {
    expect(plan([text(100 * KiB), text(300 * KiB), text(200 * KiB), text(10)])).toEqual([[300 * KiB], [200 * KiB]])
  })

  it('shares files where parts are small, up to 1 MiB a file, in the order of the message', () => {
    const files = plan(Array.from({ length: 40 }, (_, n) => text(100 * KiB + n)))
    expect(files.map((file) => file.length)).toEqual([10, 10, 10, 8])
    expect(files.flat()).toEqual(files.flat().toSorted((a, b) => a - b))
  })

  it('leaves what is not worth a reference in the row', () => {
    expect(plan([text(10), text(2000 * KiB), text(100)])).toEqual([[2000 * KiB]])
  })

  it('cannot be names and metadata', () => {
    expect(() => plan([text(1)], { metadata: { long: 'x'.repeat(300 * KiB) } })).toThrow(
      expect.objectContaining({ code: 'message_too_large' }),
    )
  })
})
