const maxInput = 100_000
const maxSentences = 5
const maxSummary = 2_000
/** One sentence of the summary for each so many of the text. */
const ratio = 4
const minWordLength = 4

interface Sentence {
  readonly text: string
  readonly position: number
  readonly score: number
}

/**
 * An extractive summary: sentences are scored by how often their words occur in the whole text, with a little more
 * weight for the first sentences and the last, and the best are given in their order. The same text always gives the
 * same summary. At most five sentences and 2,000 characters, from the first 100,000 characters of the text.
 */
export function summarise(text: string): string {
  const sentences = split(text.slice(0, maxInput))
  if (sentences.length === 0) return 'There is nothing to summarise.'
  const frequencies = new Map<string, number>()
  for (const word of sentences.flatMap(wordsOf)) frequencies.set(word, (frequencies.get(word) ?? 0) + 1)
  const scored = sentences.map((sentence, position) => ({
    text: sentence,
    position,
    score: score(sentence, frequencies) * weight(position, sentences.length),
  }))
  const count = Math.min(maxSentences, Math.ceil(sentences.length / ratio))
  const best = scored.toSorted((a, b) => b.score - a.score || a.position - b.position).slice(0, count)
  return shorten(
    best
      .toSorted((a, b) => a.position - b.position)
      .map((sentence: Sentence) => sentence.text)
      .join(' '),
  )
}

/** Sentences end at punctuation and at blank lines; marks of headings and lists are left out. */
function split(text: string): string[] {
  const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' })
  return text
    .split(/\n\s*\n|\n(?=\s*(?:[-*#>]|\d+[.)])\s)/)
    .map((block) =>
      block
        .replace(/^\s*(?:[-*#>]+|\d+[.)])\s+/, '')
        .replace(/\s+/g, ' ')
        .trim(),
    )
    .flatMap((block) => [...segmenter.segment(block)].map(({ segment }) => segment.trim()))
    .filter((sentence) => /\p{L}/u.test(sentence))
}

function wordsOf(sentence: string): string[] {
  return (sentence.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => word.length >= minWordLength)
}

/** Sum over the words, damped by the length so that long sentences do not win by length alone. */
function score(sentence: string, frequencies: ReadonlyMap<string, number>): number {
  const words = new Set(wordsOf(sentence))
  let sum = 0
  for (const word of words) sum += (frequencies.get(word) ?? 0) - 0.5
  return sum / Math.sqrt(words.size + 3)
}

function weight(position: number, count: number): number {
  if (position === 0) return 1.5
  return position === 1 || position === count - 1 ? 1.15 : 1
}

function shorten(summary: string): string {
  return summary.length <= maxSummary ? summary : `${summary.slice(0, maxSummary).trimEnd()}…`
}
