import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configSchema } from '@shared/config/index.ts'
import pino from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createAsker } from '../../../src-main/demo/agents/asker.ts'
import { createEcho } from '../../../src-main/demo/agents/echo.ts'
import { type SampleAgent, serveAgent } from '../../../src-main/demo/agents/serve.ts'
import { createSummariser } from '../../../src-main/demo/agents/summariser.ts'
import { type Backends, startBackends } from '../../../src-main/node/modules/a2a/backends/index.ts'
import { systemClock } from '../../../src-main/node/ports.ts'
import { BackendDesk } from '../../helpers/backend-desk.ts'

const token = 'a-token-of-the-demo'
let dir: string
let desk: BackendDesk
let server: Server | undefined
let backends: Backends | undefined

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'anet-agents-'))
  desk = new BackendDesk()
})

afterEach(async () => {
  await backends?.close()
  server?.close()
  server?.closeAllConnections()
  await rm(dir, { recursive: true, force: true })
})

async function start(agent: SampleAgent, givenToken = token) {
  const socket = join(dir, 'agent.sock')
  server = await serveAgent(agent, socket, token)
  const tokenFile = join(dir, 'token')
  await writeFile(tokenFile, `${givenToken}\n`)
  const config = configSchema.parse({
    modules: { a2a: { backends: [{ match: '*', url: `unix://${socket}`, token_file: tokenFile }] } },
  })
  const log = pino({ enabled: false })
  const timing = { firstRetryMs: 5, giveUpAfterMs: 0 }
  backends = await startBackends({ config, tasks: desk.tasks, clock: systemClock, log, timing })
  return socket
}

const say = (taskId: string, text: string, messageId = 'm-1') =>
  desk.receive(taskId, { messageId, role: 'ROLE_USER', parts: [{ text }] })
const reply = () => desk.of('artifact')[0]?.artifact.parts[0]?.text

test('the echo streams its answer and adds a file', async () => {
  const socket = await start(createEcho({ chunkDelayMs: 0 }))
  expect((await stat(socket)).mode & 0o777).toBe(0o600)
  say('t1', 'one two three four five six')
  await desk.until(() => desk.of('ended').length === 1)
  expect(desk.of('preview').length).toBeGreaterThan(0)
  expect('one two three four five six'.startsWith(desk.of('preview')[0]?.artifact.parts[0]?.text ?? '-')).toBe(true)
  expect(desk.of('artifact').map(({ artifact }) => artifact.parts)).toEqual([
    [{ text: 'one two three four five six' }],
    [
      {
        raw: Buffer.from('one two three four five six').toString('base64'),
        filename: 'echo.txt',
        mediaType: 'text/plain',
      },
    ],
  ])
  expect(desk.state('t1')).toBe('TASK_STATE_COMPLETED')
})

test('the echo can be canceled in the middle', async () => {
  await start(createEcho({ chunkDelayMs: 60_000 }))
  say('t1', 'one two three')
  await desk.until(() => desk.of('preview').length > 0)
  desk.cancel('t1')
  await desk.until(() => desk.of('ended').length === 1)
  expect(desk.state('t1')).toBe('TASK_STATE_CANCELED')
})

test('the asker asks once and goes on with the answer', async () => {
  await start(createAsker())
  say('t1', 'An invitation')
  await desk.until(() => desk.of('ended').length === 1)
  expect(desk.of('status').at(-1)?.status).toMatchObject({
    state: 'TASK_STATE_INPUT_REQUIRED',
    message: { parts: [{ text: 'For whom is it?' }] },
  })
  say('t1', 'Ann', 'm-2')
  await desk.until(() => desk.of('ended').length === 2)
  expect(reply()).toBe('For Ann: An invitation')
  expect(desk.state('t1')).toBe('TASK_STATE_COMPLETED')
})

test('a question can be canceled instead of answered', async () => {
  await start(createAsker())
  say('t1', 'An invitation')
  await desk.until(() => desk.of('ended').length === 1)
  desk.cancel('t1')
  await desk.until(() => desk.state('t1') === 'TASK_STATE_CANCELED')
})

test('the summariser takes texts far over the limit of the SDK', async () => {
  await start(createSummariser())
  say('t1', 'The harbour is quiet today. '.repeat(20_000))
  await desk.until(() => desk.of('ended').length === 1)
  expect(reply()).toContain('The harbour is quiet today.')
})

test('a wrong token is refused by the agent, before any text is sent', async () => {
  await start(createEcho({ chunkDelayMs: 0 }), 'another-token')
  expect(await backends?.checks()).toMatchObject([{ outcome: 'fail', seen: expect.stringContaining('401') }])
  say('t1', 'hello')
  await desk.until(() => desk.of('ended').length === 1)
  expect(desk.of('ended')[0]?.reason).toBe('backend_unreachable')
  expect(desk.of('started')).toEqual([])
})

test('fifty tasks at once keep apart', async () => {
  await start(createEcho({ chunkDelayMs: 0 }))
  for (let n = 0; n < 50; n++) say(`t${n}`, `text ${n}`)
  await desk.until(() => desk.of('ended').length === 50)
  const texts = desk.of('artifact').flatMap(({ artifact }) => artifact.parts.flatMap((part) => part.text ?? []))
  expect(new Set(texts).size).toBe(50)
})
