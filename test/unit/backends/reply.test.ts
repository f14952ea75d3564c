import { expect, test } from 'vitest'
import { Reply } from '../../../src-main/node/modules/a2a/backends/reply.ts'

const piece = (text: string) => ({ artifactId: 'reply', parts: [{ text }] })

test('text that comes piece by piece becomes one part', () => {
  const reply = new Reply(new Map())
  reply.add({ artifact: piece('To be'), append: false })
  reply.add({ artifact: piece(' or not'), append: true })
  const whole = reply.add({ artifact: piece(' to be'), append: true })
  expect(whole.parts).toEqual([{ text: 'To be or not to be' }])
})

test('without append the artifact is replaced', () => {
  const reply = new Reply(new Map())
  reply.add({ artifact: piece('first'), append: false })
  expect(reply.add({ artifact: piece('second'), append: false }).parts).toEqual([{ text: 'second' }])
})

test('files and marked text keep their own parts', () => {
  const reply = new Reply(new Map())
  reply.add({ artifact: piece('text'), append: false })
  const file = { raw: 'AAAA', filename: 'a.bin' }
  const html = { text: '<b>', mediaType: 'text/html' }
  const whole = reply.add({ artifact: { artifactId: 'reply', parts: [file, html] }, append: true })
  expect(whole.parts).toEqual([{ text: 'text' }, file, html])
})

test('text comes before files, and nothing is handed over twice in the same form', () => {
  const delivered = new Map<string, string>()
  const reply = new Reply(delivered)
  reply.add({ artifact: { artifactId: 'file', parts: [{ raw: 'AAAA', filename: 'a' }] }, append: false })
  reply.add({ artifact: piece('done'), append: false })
  const open = reply.undelivered()
  expect(open.map(({ artifactId }) => artifactId)).toEqual(['reply', 'file'])
  for (const artifact of open) reply.markDelivered(artifact)
  expect(reply.undelivered()).toEqual([])
  // a later turn repeats the old artifacts with the task
  const next = new Reply(delivered)
  next.add({ artifact: piece('done'), append: false })
  expect(next.undelivered()).toEqual([])
  next.add({ artifact: piece(' and more'), append: true })
  expect(next.undelivered()).toEqual([piece('done and more')])
})
