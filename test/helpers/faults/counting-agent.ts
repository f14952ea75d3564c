import { appendFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { createExecutor } from '../../../src-main/demo/agents/executor.ts'
import { serveAgent } from '../../../src-main/demo/agents/serve.ts'

// An agent as a process of its own that writes down each text before it does anything with it.
const [socket = '', tokenFile = '', record = ''] = process.argv.slice(2)
const token = (await readFile(tokenFile, 'utf8')).trim()

const held = new Map<unknown, () => void>()
process.on('message', (text) => held.get(text)?.())
process.on('disconnect', () => process.exit(0))

const pieces = 3
const pieceDelayMs = 10

await serveAgent(
  {
    describe: {
      name: 'Counter',
      description: 'Writes down what it is told.',
      skill: { id: 'count', name: 'Count', description: 'Counts texts.', tags: ['test'], examples: ['Count this.'] },
    },
    executor: createExecutor(async (turn) => {
      const { text, firstText, signal } = turn
      appendFileSync(record, `${JSON.stringify(text.slice(0, 200))}\n`)
      process.send?.('seen')
      if (text.startsWith('ask ') && firstText === undefined) {
        turn.ask('Which one?')
        return
      }
      const answer = `answer to ${text}`
      for (let piece = 0; piece < pieces; piece += 1) {
        if (piece === 1 && text.startsWith('hold ')) {
          await new Promise<void>((resolve) => {
            held.set(text, resolve)
            signal.addEventListener('abort', () => resolve())
          })
        }
        await delay(pieceDelayMs, undefined, { signal })
        const from = Math.floor((answer.length * piece) / pieces)
        const to = Math.floor((answer.length * (piece + 1)) / pieces)
        turn.artifact(
          { artifactId: 'reply', name: 'Reply', parts: [{ text: answer.slice(from, to) }] },
          { append: piece > 0, lastChunk: piece === pieces - 1 },
        )
      }
      turn.complete()
    }),
  },
  socket,
  token,
)
process.send?.('ready')
