import { createExecutor } from './executor.ts'
import type { SampleAgent } from './serve.ts'

/** Asks one question, and goes on with the answer. */
export function createAsker(): SampleAgent {
  return {
    describe: {
      name: 'Asker',
      description: 'Asks you one question before it answers.',
      skill: {
        id: 'ask',
        name: 'Ask back',
        description: 'Asks for whom a text is, and then addresses it to them.',
        tags: ['demo', 'dialogue'],
        examples: ['Write an invitation to the launch.'],
      },
    },
    executor: createExecutor(async (turn) => {
      if (turn.firstText === undefined) {
        turn.ask('For whom is it?')
        return
      }
      const parts = [{ text: `For ${turn.text.trim()}: ${turn.firstText}` }]
      turn.artifact({ artifactId: 'reply', name: 'Reply', parts }, { lastChunk: true })
      turn.complete()
    }),
  }
}
