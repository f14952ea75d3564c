import type { TaskDetailView, TaskEntryView } from '@shared/contract/index.ts'
import { entryText, entryTitle } from './task-text.ts'
import { inert, inertJson, when } from './text.ts'

interface Sink {
  write(text: string): unknown
}

/**
 * Prints a task while it runs. For people: the answer's text as it grows, previews first and the rest of the artifact
 * after them, so that nothing appears twice. For programs: one JSON value a line, {entry} or {preview}.
 */
export class StreamPrinter {
  readonly #out: Sink
  readonly #json: boolean
  /** Whether entries have titles and the own messages are shown, as `anet tasks watch` does it. */
  readonly #titles: boolean
  #lastSeq: number
  /** Preview text on the screen that no finished artifact has covered yet. */
  #shown = ''
  #atLineStart = true

  constructor(out: Sink, options: { json: boolean; own: boolean; after: number }) {
    this.#out = out
    this.#json = options.json
    this.#titles = options.own
    this.#lastSeq = options.after
  }

  detail(task: TaskDetailView): void {
    for (const entry of task.entries) {
      if (entry.seq <= this.#lastSeq) continue
      this.#lastSeq = entry.seq
      if (this.#json) this.#out.write(`${inertJson({ entry })}\n`)
      else this.#entry(entry)
    }
  }

  /** The whole reply so far. */
  preview(text: string): void {
    if (this.#json) {
      this.#out.write(`${inertJson({ preview: text })}\n`)
      return
    }
    // a snapshot that does not continue what stands there waits for the finished artifact
    if (!text.startsWith(this.#shown)) return
    this.#print(inert(text.slice(this.#shown.length)))
    this.#shown = text
  }

  end(note: string): void {
    if (this.#json) return
    this.#newLine()
    if (note !== '') this.#out.write(`${note}\n`)
  }

  #entry(entry: TaskEntryView): void {
    if (this.#titles) {
      this.#newLine()
      this.#print(`${when(entry.at)}  ${entryTitle(entry)}\n`)
    } else if (entry.kind === 'message' && entry.from === 'requester') return
    const text = entryText(entry)
    if (text === '') return
    const shown = inert(this.#shown)
    if (entry.kind === 'artifact' && shown !== '') {
      if (text.startsWith(shown)) this.#print(text.slice(shown.length))
      else if (!shown.startsWith(text)) {
        this.#newLine()
        this.#print(text)
      }
      this.#shown = ''
      return
    }
    if (!(entry.kind === 'artifact' && entry.append)) this.#newLine()
    this.#print(text)
  }

  #print(text: string): void {
    if (text === '') return
    this.#out.write(text)
    this.#atLineStart = text.endsWith('\n')
  }

  #newLine(): void {
    if (!this.#atLineStart) this.#print('\n')
  }
}
