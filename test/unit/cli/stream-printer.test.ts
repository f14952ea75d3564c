import { describe, expect, it } from 'vitest'
import { StreamPrinter } from '../../../src-main/cli/stream-printer.ts'
import type { TaskDetailView, TaskEntryView } from '../../../src-shared/contract/index.ts'

function artifact(seq: number, text: string, append = false): TaskEntryView {
  return { kind: 'artifact', seq, at: 0, artifact: { artifactId: 'a', parts: [{ text }] }, append, lastChunk: true }
}
const question: TaskEntryView = {
  kind: 'message',
  seq: 1,
  at: 0,
  from: 'requester',
  message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'the question' }] },
}

function printed(options: { json?: boolean }, play: (printer: StreamPrinter) => void): string {
  let text = ''
  const printer = new StreamPrinter(
    { write: (chunk) => (text += chunk) },
    { json: options.json ?? false, own: false, after: 0 },
  )
  play(printer)
  return text
}
const detail = (...entries: TaskEntryView[]): TaskDetailView => ({ entries }) as unknown as TaskDetailView

describe('a streamed answer', () => {
  it('appears once: previews as they grow, then only what the artifact has beyond them', () => {
    const text = printed({}, (printer) => {
      printer.detail(detail(question))
      printer.preview('Hel')
      printer.preview('Hello wor')
      printer.detail(detail(question, artifact(2, 'Hello world')))
      printer.end('')
    })
    expect(text).toBe('Hello world\n')
  })

  it('prints the artifact anew when it is not what the previews said', () => {
    const text = printed({}, (printer) => {
      printer.preview('A draft')
      printer.detail(detail(artifact(2, 'The answer')))
      printer.end('')
    })
    expect(text).toBe('A draft\nThe answer\n')
  })

  it('ignores a preview that does not continue the one before', () => {
    const text = printed({}, (printer) => {
      printer.preview('one two')
      printer.preview('one')
      printer.preview('one two three')
      printer.end('')
    })
    expect(text).toBe('one two three\n')
  })

  it('continues an appended artifact on the same line, and shows each entry once', () => {
    const text = printed({}, (printer) => {
      printer.detail(detail(artifact(2, 'first ')))
      printer.detail(detail(artifact(2, 'first '), artifact(3, 'second', true)))
      printer.end('(done)')
    })
    expect(text).toBe('first second\n(done)\n')
  })

  it('is one JSON value a line for programs', () => {
    const text = printed({ json: true }, (printer) => {
      printer.preview('Hel')
      printer.detail(detail(artifact(2, 'Hello')))
      printer.end('(not for programs)')
    })
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown)
    expect(lines).toEqual([{ preview: 'Hel' }, { entry: artifact(2, 'Hello') }])
  })

  it('shows the control characters of an agent', () => {
    const text = printed({}, (printer) => {
      printer.preview('\u001b[2J')
      printer.detail(detail(artifact(2, '\u001b[2Jclean')))
      printer.end('')
    })
    expect(text).toBe('\\u001b[2Jclean\n')
  })
})
