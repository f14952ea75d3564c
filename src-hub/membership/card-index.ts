import type { AgentCard } from '@shared/a2a/index.ts'
import type { CardIndex } from '../store/index.ts'

/** As many words of a card's own choice as the hub keeps in an index; the rest is found by text only. */
const maxTerms = 512
/** Longest term that a query can name. */
const maxTermLength = 256
/** Text of a card that is searched. */
const maxTextLength = 64 * 1024

export const emptyIndex: CardIndex = { skills: [], tags: [], text: '' }

/** Words by which a card is found: skill ids and tags exactly, names, descriptions and tags by full text. */
export function cardIndex(card: AgentCard): CardIndex {
  const terms = (all: readonly string[]) =>
    [...new Set(all)].filter((term) => term.length <= maxTermLength).slice(0, maxTerms)
  const text = [
    card.name,
    card.description,
    ...card.skills.flatMap((skill) => [skill.id, skill.name, ...skill.tags, skill.description]),
  ].join('\n')
  return {
    skills: terms(card.skills.map((skill) => skill.id)),
    tags: terms(card.skills.flatMap((skill) => skill.tags)),
    text: apart(text.slice(0, maxTextLength)).slice(0, maxTextLength),
  }
}

/**
 * The words of a query: each has to be found as the beginning of a word of the card. Undefined: nothing was asked for.
 * A query that has only punctuation has no words and finds nobody.
 */
export function queryWords(q: string | undefined): readonly string[] | undefined {
  if (q === undefined || q.trim() === '') return undefined
  return apart(q)
    .split(/[^\p{L}\p{N}\p{M}\p{Co}]+/u)
    .filter((word) => word !== '')
    .slice(0, 32)
}

// scripts without spaces: each character counts as a word
function apart(text: string): string {
  return text.replaceAll(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu, ' $& ')
}
