import { describe, expect, it } from 'vitest'
import {
  byteCount,
  clipped,
  inert,
  inertJson,
  inertLine,
  shortAid,
  stateWord,
  table,
} from '../../../src-main/cli/text.ts'

describe('text of other agents on a terminal', () => {
  it('shows control characters instead of obeying them', () => {
    expect(inert('\u001b[2Jgone\u0007')).toBe('\\u001b[2Jgone\\u0007')
    expect(inert('a\rb')).toBe('a\\u000db')
    expect(inert('\u009b31m')).toBe('\\u009b31m')
  })

  it('shows what would reorder or hide text', () => {
    expect(inert('abc\u202efdp.exe')).toBe('abc\\u202efdp.exe')
    expect(inert('\u2066x\u2069\u200b\ufeff')).toBe('\\u2066x\\u2069\\u200b\\ufeff')
    expect(inert('half \ud83d a pair')).toBe('half \\ud83d a pair')
  })

  it('leaves ordinary text in any script alone, with its lines', () => {
    const text = 'Grüße, 世界 👋\n\tשלום'
    expect(inert(text)).toBe(text)
  })

  it('keeps a line one line', () => {
    expect(inertLine('a\nb\tc')).toBe('a\\nb\\tc')
    expect(clipped('one\ntwo three', 8)).toBe('one\\ntw…')
  })

  it('prints JSON that is safe and still the same value', () => {
    const value = { text: '\u202e\u009b\u2028"\n' }
    const printed = inertJson(value)
    // oxlint-disable-next-line no-control-regex -- the characters that must not be there
    expect(printed).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u202e]/)
    expect(JSON.parse(printed)).toEqual(value)
  })
})

describe('tables and figures', () => {
  it('aligns columns and leaves no trailing space', () => {
    expect(
      table(
        ['NAME', 'STATE'],
        [
          ['echo', 'up'],
          ['summariser', '\u001b[31mdown'],
        ],
      ),
    ).toBe('NAME        STATE\necho        up\nsummariser  \\u001b[31mdown')
  })

  it('shortens AIDs in the middle, and not with --wide', () => {
    const aid = 'bafyreihvpymdwmsjfrytzn2jqw3sxogkkagakvpxy4cbrckrqlzcrtqkbu'
    expect(shortAid(aid)).toBe('bafyreihvpym…rtqkbu'.replace('rtqkbu', aid.slice(-6)))
    expect(shortAid(aid, true)).toBe(aid)
  })

  it('speaks of states and sizes in words', () => {
    expect(stateWord('TASK_STATE_INPUT_REQUIRED')).toBe('input-required')
    expect(byteCount(512)).toBe('512 bytes')
    expect(byteCount(1536)).toBe('1.5 KiB')
    expect(byteCount(64 * 1024 * 1024)).toBe('64.0 MiB')
  })
})
