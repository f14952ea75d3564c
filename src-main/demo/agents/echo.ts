import { setTimeout as delay } from 'node:timers/promises'
import { createExecutor } from './executor.ts'
import type { SampleAgent } from './serve.ts'

const maxChunks = 24

/** Says what it was told, piece by piece, and adds it as a file. */
export function createEcho(options: { readonly chunkDelayMs: number }): SampleAgent {
  return {
    describe: {
      name: 'Echo',
      description: 'Repeats your text, streamed in pieces, and returns it as a file as well.',
      skill: {
        id: 'echo',
        name: 'Echo',
        description: 'Repeats the text of a message.',
        tags: ['demo', 'text'],
        examples: ['Say this back to me.'],
      },
    },
    executor: createExecutor(async (turn) => {
      const pieces = cut(turn.text)
      for (const [index, text] of pieces.entries()) {
        if (index > 0) await delay(options.chunkDelayMs, undefined, { signal: turn.signal })
        turn.artifact(
          { artifactId: 'reply', name: 'Reply', parts: [{ text }] },
          { append: index > 0, lastChunk: index === pieces.length - 1 },
        )
      }
      const raw = Buffer.from(turn.text).toString('base64')
      turn.artifact(
        { artifactId: 'file', name: 'echo.txt', parts: [{ raw, filename: 'echo.txt', mediaType: 'text/plain' }] },
        { lastChunk: true },
      )
      turn.complete()
    }),
  }
}

/** Pieces of whole words, so that a reader can follow; joined they are the text. */
export function cut(text: string): string[] {
  const words = text.match(/\s*\S+\s*$|\s*\S+/g) ?? [text]
  const perPiece = Math.ceil(words.length / maxChunks)
  const pieces: string[] = []
  for (let start = 0; start < words.length; start += perPiece) {
    pieces.push(words.slice(start, start + perPiece).join(''))
  }
  return pieces
}
