import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { AnetError } from '@shared/errors.ts'

const maxStdinBytes = 4 * 1024 * 1024

/** True if a person sits at both ends. */
export function isTerminal(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true
}

/** Everything on standard input as text, without the last line feed. */
export async function readStdin(): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.byteLength
    if (size > maxStdinBytes) {
      throw new AnetError('content_too_large', `Standard input has more than ${maxStdinBytes} bytes.`, {
        remedy: 'Send large content as a file, with --file.',
      })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8').replace(/\n$/, '')
}

/** Asks on the terminal; questions go to stderr, so that stdout holds results only. */
export async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await lines.question(question)).trim()
  } finally {
    lines.close()
  }
}

/** Asks without showing what is typed. */
export async function askSecret(question: string): Promise<string> {
  process.stderr.write(question)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  try {
    return await lines.question('')
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}
