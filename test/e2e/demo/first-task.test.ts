import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { type RunningDemo, startDemo } from '../../helpers/demo.ts'

const run = promisify(execFile)
const page = readFileSync(resolve(import.meta.dirname, '../../../docs/first-task.md'), 'utf8')
const blocks = [...page.matchAll(/```bash\n([\s\S]*?)```/g)].map((match) => match[1] ?? '')
const [preamble = '', ...commands] = blocks

let demo: RunningDemo
beforeAll(async () => {
  demo = await startDemo()
})
afterAll(() => demo?.stop())

/** Runs one command of the page as a reader would, in bash, with what the page says to fill in. */
async function reader(command: string, fill: { aid?: string; taskId?: string }): Promise<string> {
  const filled = command.replaceAll('<aid>', fill.aid ?? '').replaceAll('<task-id>', fill.taskId ?? '')
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', `${preamble}\n${filled}`], {
    env: { ...process.env, ANET_DATA_DIR: demo.ready.dataDir },
    timeout: 60_000,
  })
  return stdout
}

const command = (part: string) => {
  const found = commands.filter((text) => text.includes(part))
  expect(found, `one command with ${part}`).toHaveLength(1)
  return found[0] ?? ''
}

const task = z.object({
  id: z.string(),
  contextId: z.string(),
  status: z.object({ state: z.string() }),
  artifacts: z.array(z.object({ parts: z.array(z.object({ text: z.string().optional() })) })).optional(),
})
const rpc = <T extends z.ZodType>(result: T) => z.object({ jsonrpc: z.literal('2.0'), id: z.number(), result })

test('the page has the six commands of the seed', () => {
  expect(commands).toHaveLength(6)
})

test('the list shows the three agents of the ready file, verified', async () => {
  const answer = z.object({ agents: z.array(z.object({ aid: z.string(), url: z.string(), verification: z.string() })) })
  const { agents } = answer.parse(JSON.parse(await reader(command('/a2a/v1/agents"'), {})))
  expect(agents.toSorted((a, b) => a.aid.localeCompare(b.aid))).toMatchObject(
    demo.ready.agents
      .toSorted((a, b) => a.aid.localeCompare(b.aid))
      .map(({ aid, url }) => ({ aid, url, verification: 'VERIFIED' })),
  )
})

test('the card names the agent', async () => {
  const { aid, url } = demo.agent('Echo')
  const card = z
    .object({ name: z.string(), supportedInterfaces: z.array(z.object({ url: z.string() })) })
    .parse(JSON.parse(await reader(command('agent-card.json'), { aid })))
  expect(card.name).toBe('Echo')
  expect(card.supportedInterfaces[0]?.url).toBe(`${url}/jsonrpc`)
})

test('a task that is sent is answered, and read on both bindings', async () => {
  const { aid } = demo.agent('Echo')
  const sent = rpc(z.object({ task })).parse(JSON.parse(await reader(command('"SendMessage"'), { aid })))
  const { id: taskId } = sent.result.task
  let read = sent.result.task
  while (read.status.state !== 'TASK_STATE_COMPLETED') {
    expect(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING']).toContain(read.status.state)
    read = rpc(task).parse(JSON.parse(await reader(command('"GetTask"'), { aid, taskId }))).result
  }
  expect(read.artifacts?.[0]?.parts[0]?.text).toBe('Summarize the attached document.')
  expect(task.parse(JSON.parse(await reader(command('/rest/tasks/'), { aid, taskId })))).toEqual(read)
})

test('a streaming call shows the task first, the reply, and then its end', async () => {
  const { aid } = demo.agent('Summariser')
  const output = await reader(command('"SendStreamingMessage"'), { aid })
  const events = output
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => rpc(z.record(z.string(), z.unknown())).parse(JSON.parse(line.slice(6))).result)
  expect(Object.keys(events[0] ?? {})).toEqual(['task'])
  const kinds = events.flatMap((event) => Object.keys(event))
  expect(kinds.lastIndexOf('artifactUpdate')).toBeLessThan(kinds.length - 1)
  expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } })
})
