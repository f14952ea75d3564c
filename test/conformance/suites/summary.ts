import { randomUUID } from 'node:crypto'
import { type Task, taskSchema } from '@shared/a2a/index.ts'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { anetJson } from '../../helpers/anet-command.ts'
import type { RunningDemo } from '../../helpers/demo.ts'
import { asReader, codeBlocks, page, paragraphs } from '../../helpers/page-commands.ts'
import { artifactTexts, bindings, request, wire } from '../../helpers/sdk-client.ts'
import { sdkDesk } from './desk.ts'

const [first = '', second = ''] = paragraphs(page('README.md'))
  .filter((paragraph) => (paragraph.match(/\. /g) ?? []).length >= 2)
  .toSorted((a, b) => b.length - a.length)

/** The same paragraph of README.md through the command line, curl and the SDK. */
export function summary(demo: () => RunningDemo): void {
  async function everyWay(text: string): Promise<string[]> {
    const { aid } = demo().agent('Summariser')
    const { dataDir } = demo().ready
    const tasks = await Promise.all([
      anetJson<Task>(['send', aid, text], { dataDir }),
      viaCurl(text, aid, dataDir),
      ...bindings.map(async (binding) =>
        wire(await (await sdkDesk(binding, demo).client('Summariser')).sendMessage(request(text))),
      ),
    ])
    return tasks.map((task) => artifactTexts(task).join('\n'))
  }

  test('a paragraph of README.md has one summary, and another paragraph another', async () => {
    const [summaries, others] = await Promise.all([everyWay(first), everyWay(second)])
    expect(summaries).toHaveLength(4)
    for (const [text, got] of [
      [first, summaries],
      [second, others],
    ] as const) {
      const [answer = ''] = got
      expect(answer).not.toBe('')
      expect(got).toEqual(got.map(() => answer))
      expect(answer.split(/(?<=[.!?]) /).filter((sentence) => !text.includes(sentence))).toEqual([])
      expect(answer.length).toBeLessThan(text.length)
    }
    expect(others[0]).not.toBe(summaries[0])
  })
}

/** As docs/first-task.md does it, with another text, and waiting for the answer. */
async function viaCurl(text: string, aid: string, dataDir: string): Promise<Task> {
  const [preamble = '', ...commands] = codeBlocks(page('docs/first-task.md'), 'bash')
  const command = commands.find((block) => block.includes('"SendMessage"'))
  if (command === undefined) throw new Error('docs/first-task.md sends no message')
  const [before = '', body = '', after = ''] = command.split("'{").flatMap((part) => part.split("}'"))
  const sent = JSON.parse(`{${body}}`) as { params: { message: object; configuration?: object } }
  const message = { ...sent.params.message, messageId: randomUUID(), parts: [{ text }] }
  const changed = JSON.stringify({ ...sent, params: { message } }).replaceAll("'", String.raw`'\''`)
  const printed = await asReader(`${preamble}\n${before}'${changed}'${after}`, {
    env: { ANET_DATA_DIR: dataDir },
    fill: { aid },
  })
  return z.object({ result: z.object({ task: taskSchema }) }).parse(JSON.parse(printed)).result.task
}
