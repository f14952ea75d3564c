import { createExecutor } from './executor.ts'
import type { SampleAgent } from './serve.ts'
import { summarise } from './summarise.ts'

/** Picks the sentences that say most. */
export function createSummariser(): SampleAgent {
  return {
    describe: {
      name: 'Summariser',
      description: 'Summarises a text by its most telling sentences.',
      skill: {
        id: 'summarise',
        name: 'Summarise',
        description: 'Returns the sentences of a text that say most, in their order.',
        tags: ['demo', 'text', 'summary'],
        examples: ['Paste a few paragraphs.'],
      },
    },
    executor: createExecutor(async (turn) => {
      const parts = [{ text: summarise(turn.text) }]
      turn.artifact({ artifactId: 'reply', name: 'Summary', parts }, { lastChunk: true })
      turn.complete()
    }),
  }
}
