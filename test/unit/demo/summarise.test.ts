import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cut } from '../../../src-main/demo/agents/echo.ts'
import { summarise } from '../../../src-main/demo/agents/summarise.ts'

const text = `The harbour was quiet. A ship came into the harbour at noon. Gulls cried.
The captain of the ship asked for a berth in the harbour. It rained a little.
Later the ship left the harbour again. Nobody waved.`

test('a summary consists of sentences of the text, in their order', () => {
  const summary = summarise(text)
  const sentences = summary.split(/(?<=\.) /)
  const places = sentences.map((sentence) => text.replace(/\s+/g, ' ').indexOf(sentence))
  expect(places.every((place) => place >= 0)).toBe(true)
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  expect(summary).toContain('harbour')
  expect(summary).not.toContain('Nobody waved')
})

test('the same text gives the same summary, another text another', () => {
  expect(summarise(text)).toBe(summarise(text))
  expect(summarise(text)).not.toBe(summarise(text.replaceAll('harbour', 'station')))
})

test('a page of prose is shortened', () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../../LICENSE'), 'utf8')
  expect(summarise(page).length).toBeLessThan(page.length)
})

test('one sentence is its own summary, and nothing has none', () => {
  expect(summarise('Summarize the attached document.')).toBe('Summarize the attached document.')
  expect(summarise(' \n 123 … ')).toBe('There is nothing to summarise.')
})

test('any text has a bounded summary', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 5000 }), (input) => {
      const summary = summarise(input)
      return summary.length > 0 && summary.length <= 2001
    }),
  )
  expect(summarise('word '.repeat(100_000)).length).toBeLessThanOrEqual(2001)
})

test('the pieces of the echo are the text', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 500 }), (input) => cut(input).join('') === input && cut(input).length <= 24),
  )
  expect(cut('To be or not to be').length).toBeGreaterThan(3)
})
