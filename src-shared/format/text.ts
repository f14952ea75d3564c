// Characters that hide, reorder or overwrite others: controls but tab and line feed, separators, and format characters
// such as direction overrides and zero-width ones. The joiner inside an emoji is left alone.
const deceptive = /(?![\t\n])(?:[\p{Cc}\p{Zl}\p{Zp}]|(?!\u200D)\p{Cf}|(?<![\p{Extended_Pictographic}\uFE0F])\u200D)/gu

export interface TextRun {
  readonly kind: 'text' | 'control'
  /** The text itself, or the code point as `U+202E`. */
  readonly text: string
}

/** Splits somebody else's text into plain runs and control characters, so that the latter can be shown. */
export function textRuns(text: string): readonly TextRun[] {
  const runs: TextRun[] = []
  let end = 0
  for (const match of text.matchAll(deceptive)) {
    if (match.index > end) runs.push({ kind: 'text', text: text.slice(end, match.index) })
    runs.push({ kind: 'control', text: codePointName(match[0]) })
    end = match.index + match[0].length
  }
  if (end < text.length) runs.push({ kind: 'text', text: text.slice(end) })
  return runs
}

/** The same as one line of plain text, for terminals, labels and titles: `<U+202E>` for each control character. */
export function visibleText(text: string): string {
  return textRuns(text)
    .map((run) => (run.kind === 'text' ? run.text : `<${run.text}>`))
    .join('')
}

function codePointName(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}
