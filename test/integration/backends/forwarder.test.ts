import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configSchema } from '@shared/config/index.ts'
import pino from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Backends, startBackends } from '../../../src-main/node/modules/a2a/backends/index.ts'
import { systemClock } from '../../../src-main/node/ports.ts'
import { BackendDesk, peer } from '../../helpers/backend-desk.ts'
import { artifactUpdate, ScriptedBackend, type Script, statusUpdate, task } from '../../helpers/scripted-backend.ts'

let dir: string
let path: string
let desk: BackendDesk
let backend: ScriptedBackend
let backends: Backends | undefined

const timing = {
  workingAfterMs: 60_000,
  firstRetryMs: 10,
  maxRetryMs: 20,
  giveUpAfterMs: 60_000,
  followMs: 5,
  followMaxMs: 5,
  followFailures: 2,
  cancelMs: 500,
}

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'anet-forward-'))
  path = join(dir, 'agent.sock')
  desk = new BackendDesk()
})

afterEach(async () => {
  await backends?.close()
  backends = undefined
  await backend?.close()
  await rm(dir, { recursive: true, force: true })
})

interface StartOptions {
  readonly timing?: object
  readonly settings?: object
  readonly listen?: boolean
}

async function start(script: Script, options: StartOptions = {}) {
  backend = new ScriptedBackend(script)
  if (options.listen !== false) await backend.listen(path)
  await forwardTo(options)
}

async function forwardTo(options: StartOptions) {
  const config = configSchema.parse({
    modules: { a2a: { backends: [{ match: '*', url: `unix://${path}`, ...options.settings }] } },
  })
  backends = await startBackends({
    config,
    tasks: desk.tasks,
    clock: systemClock,
    log: pino({ enabled: false }),
    timing: { ...timing, ...options.timing },
  })
}

const text = (words: string, more = {}) => ({
  messageId: 'm-1',
  role: 'ROLE_USER' as const,
  parts: [{ text: words }],
  ...more,
})
const ended = () => desk.of('ended').length > 0

test('a streamed answer becomes previews, one artifact and a terminal state, in this order', async () => {
  await start((call) => {
    call.event({ task: task('TASK_STATE_WORKING') })
    call.event(artifactUpdate('Hello'))
    call.event(artifactUpdate(' world', { append: true, lastChunk: true }))
    call.event(statusUpdate('TASK_STATE_COMPLETED'))
    call.response.end()
  })
  desk.receive('t1', text('say hello'))
  await desk.until(ended)
  expect(desk.deeds.map(({ kind }) => kind)).toEqual(['started', 'status', 'preview', 'artifact', 'status', 'ended'])
  expect(desk.of('preview')[0]?.artifact.parts).toEqual([{ text: 'Hello' }])
  expect(desk.of('artifact')[0]?.artifact.parts).toEqual([{ text: 'Hello world' }])
  expect(desk.of('status').map(({ status }) => status.state)).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED'])
  expect(desk.of('ended')[0]?.reason).toBeUndefined()
})

test('the request says whose task it is, and the peer cannot say it for itself', async () => {
  await start((call) => call.event({ message: { messageId: 'r', role: 'ROLE_AGENT', parts: [{ text: 'ok' }] } }))
  const claims = { 'anet.peer_aid': 'somebody', 'anet.trusted': false, 'x402.payment.status': 'paid', mood: 'good' }
  desk.receive('t1', text('hi', { metadata: claims }))
  const call = await backend.called('SendStreamingMessage')
  const truth = { 'anet.peer_aid': peer, 'anet.trusted': true }
  expect(call.params['metadata']).toEqual(truth)
  expect(call.params.message?.['metadata']).toEqual({ mood: 'good', ...truth })
  expect(call.params.message?.['messageId']).not.toBe('m-1')
  call.response.end()
  await desk.until(ended)
  expect(desk.of('artifact')[0]?.artifact.parts).toEqual([{ text: 'ok' }])
  expect(desk.state('t1')).toBe('TASK_STATE_COMPLETED')
})

test('strangers and files stay with the operator', async () => {
  await start(() => undefined)
  expect(desk.receive('t1', text('hi'), false)).toBeUndefined()
  expect(desk.receive('t2', text('hi', { parts: [{ text: 'see' }, { raw: 'AAAA', filename: 'a' }] }))).toBeUndefined()
  expect(backend.calls).toEqual([])
})

test('a conversation stays with whoever began it', async () => {
  await start(
    (call) => {
      call.event({ task: task('TASK_STATE_WORKING') })
      call.event(statusUpdate('TASK_STATE_INPUT_REQUIRED', 'more?'))
      call.response.end()
    },
    { settings: { match: 'translate' } },
  )
  const skilled = { metadata: { 'anet.skill': 'translate' } }
  expect(desk.receive('t1', text('no skill named'))).toBeUndefined()
  expect(desk.receive('t1', text('now one', { messageId: 'm-2', ...skilled }))).toBeUndefined()
  expect(desk.receive('t2', text('one', skilled))).toBeDefined()
  await desk.until(ended)
  expect(desk.receive('t2', text('again', { messageId: 'm-2' }))).toBeDefined()
  await desk.until(() => desk.of('ended').length === 2)
  expect(backend.of('SendStreamingMessage')).toHaveLength(2)
})

test('a peer that is no longer trusted goes to the operator, also in the middle', async () => {
  await start((call) => {
    call.event({ task: task('TASK_STATE_WORKING') })
    call.event(statusUpdate('TASK_STATE_INPUT_REQUIRED', 'more?'))
    call.response.end()
  })
  desk.receive('t1', text('hi'))
  await desk.until(ended)
  desk.receive('t1', text('more', { messageId: 'm-2' }), false)
  await desk.until(() => desk.of('ended').length === 2)
  expect(desk.of('ended')[1]?.reason).toBe('not_trusted')
  expect(backend.of('SendStreamingMessage')).toHaveLength(1)
})

test('a question is passed on, and the answer goes to the same task of the backend', async () => {
  await start((call) => {
    const answer = call.params.message?.['taskId'] !== undefined
    call.event({ task: task(answer ? 'TASK_STATE_INPUT_REQUIRED' : 'TASK_STATE_SUBMITTED') })
    if (answer) {
      call.event(artifactUpdate('for Ann', { lastChunk: true }))
      call.event(statusUpdate('TASK_STATE_COMPLETED'))
    } else {
      call.event(statusUpdate('TASK_STATE_INPUT_REQUIRED', 'for whom?'))
    }
    call.response.end()
  })
  desk.receive('t1', text('write'))
  await desk.until(() => desk.state('t1') === 'TASK_STATE_INPUT_REQUIRED')
  expect(desk.of('status').at(-1)?.status.message?.parts).toEqual([{ text: 'for whom?' }])
  desk.receive('t1', text('Ann', { messageId: 'm-2' }))
  await desk.until(() => desk.of('ended').length === 2)
  const second = backend.of('SendStreamingMessage')[1]
  expect(second?.params.message).toMatchObject({ taskId: 'backend-task', contextId: 'backend-context' })
  expect(desk.state('t1')).toBe('TASK_STATE_COMPLETED')
})

test('a question that is not answered by more is a question again', async () => {
  await start((call) => {
    call.event({ task: task('TASK_STATE_INPUT_REQUIRED') })
    call.response.end()
  })
  desk.receive('t1', text('write'))
  await desk.until(ended)
  desk.receive('t1', text('Ann', { messageId: 'm-2' }))
  await desk.until(() => desk.of('ended').length === 2)
  expect(desk.state('t1')).toBe('TASK_STATE_INPUT_REQUIRED')
})

test('an agent that is not there yet gets the message once when it comes', async () => {
  await start(
    (call) => {
      call.event(statusUpdate('TASK_STATE_COMPLETED', 'late but there'))
      call.response.end()
    },
    { listen: false },
  )
  desk.receive('t1', text('hi'))
  await backend.listen(path)
  await desk.until(ended)
  expect(backend.of('SendStreamingMessage')).toHaveLength(1)
  expect(desk.of('started')).toHaveLength(1)
  expect(desk.of('artifact')[0]?.artifact.parts).toEqual([{ text: 'late but there' }])
})

test('503 is the one answer after which the message is written again', async () => {
  await start((call) => {
    if (backend.of('SendStreamingMessage').length < 3) call.response.writeHead(503).end()
    else {
      call.event(statusUpdate('TASK_STATE_COMPLETED', 'done'))
      call.response.end()
    }
  })
  desk.receive('t1', text('hi'))
  await desk.until(ended)
  const calls = backend.of('SendStreamingMessage')
  expect(calls).toHaveLength(3)
  expect(new Set(calls.map((call) => call.params.message?.['messageId'])).size).toBe(1)
  expect(desk.of('released')).toHaveLength(2)
  expect(desk.state('t1')).toBe('TASK_STATE_COMPLETED')
})

test('after give_up_after the task fails, and says why', async () => {
  await start(() => undefined, { listen: false, timing: { giveUpAfterMs: 15 } })
  desk.receive('t1', text('hi'))
  await desk.until(ended)
  expect(desk.of('ended')[0]?.reason).toBe('backend_unreachable')
  expect(desk.of('status')[0]?.status).toMatchObject({ state: 'TASK_STATE_FAILED', reason: 'backend_unreachable' })
  expect(desk.of('started')).toEqual([])
})

test('give_up_after 0 tries once', async () => {
  await start((call) => call.response.writeHead(503).end(), { timing: { giveUpAfterMs: 0 } })
  desk.receive('t1', text('hi'))
  await desk.until(ended)
  expect(backend.of('SendStreamingMessage')).toHaveLength(1)
  expect(desk.of('ended')[0]?.reason).toBe('backend_unavailable')
})

const secret = 'stack trace at /home/agent/secret.ts'
const failures: readonly [string, Script, string][] = [
  ['an HTTP error', (call) => call.response.writeHead(500).end(secret), 'backend_failed'],
  ['a redirect', (call) => call.response.writeHead(307, { location: '/elsewhere' }).end(), 'backend_failed'],
  [
    'an A2A error',
    (call) => call.response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32603, message: secret } })),
    'backend_failed',
  ],
  ['a closed connection', (call) => call.response.socket?.destroy(), 'backend_outcome_unknown'],
  ['no A2A', (call) => call.response.end(`<html>${secret}</html>`), 'backend_outcome_unknown'],
  ['a broken stream', (call) => (call.event({ nonsense: true }), call.response.end()), 'backend_outcome_unknown'],
  [
    'an empty stream',
    (call) => (call.response.writeHead(200, { 'content-type': 'text/event-stream' }), call.response.end()),
    'backend_outcome_unknown',
  ],
]
for (const [what, script, reason] of failures) {
  test(`${what} after the message was written ends the task once, without the words of the backend`, async () => {
    await start(script)
    desk.receive('t1', text('hi'))
    await desk.until(ended)
    expect(backend.of('SendStreamingMessage')).toHaveLength(1)
    expect(desk.of('ended')[0]?.reason).toBe(reason)
    expect(desk.of('status').at(-1)?.status).toMatchObject({ state: 'TASK_STATE_FAILED', reason })
    expect(JSON.stringify(desk.deeds)).not.toContain('secret.ts')
  })
}

test('what a backend says about its own failure stays inside', async () => {
  await start((call) => {
    call.event({ task: task('TASK_STATE_WORKING') })
    call.event(statusUpdate('TASK_STATE_FAILED', secret))
    call.response.end()
  })
  desk.receive('t1', text('hi'))
  await desk.until(ended)
  expect(desk.of('status').at(-1)?.status).toMatchObject({ state: 'TASK_STATE_FAILED', reason: 'backend_failed' })
  expect(JSON.stringify(desk.deeds)).not.toContain('secret.ts')
})

test('an answer that broke off is read on, and nothing is written or handed over twice', async () => {
  const artifacts = [{ artifactId: 'reply', parts: [{ text: 'all of it' }] }]
  await start((call) => {
    if (call.method === 'GetTask') return call.result(task('TASK_STATE_COMPLETED', { artifacts }))
    call.event({ task: task('TASK_STATE_WORKING') })
    call.event(artifactUpdate('all of it', { lastChunk: true }))
    setImmediate(() => call.response.destroy())
  })
  desk.receive('t1', text('hi'))
  await desk.until(ended)
  expect(backend.of('SendStreamingMessage')).toHaveLength(1)
  expect(desk.of('artifact').map(({ artifact }) => artifact.parts)).toEqual([[{ text: 'all of it' }]])
  expect(desk.state('t1')).toBe('TASK_STATE_COMPLETED')
})

test('a stream that ends in the middle is subscribed to again', async () => {
  await start((call) => {
    if (call.method === 'GetTask') return call.result(task('TASK_STATE_WORKING'))
    call.event({ task: task('TASK_STATE_WORKING') })
    if (call.method === 'SubscribeToTask') call.event(statusUpdate('TASK_STATE_COMPLETED', 'the end'))
    call.response.end()
  })
  desk.receive('t1', text('hi'))
  await desk.until(ended)
  expect(backend.of('SubscribeToTask')).toHaveLength(1)
  expect(desk.of('artifact')[0]?.artifact.parts).toEqual([{ text: 'the end' }])
})

test('an agent that forgot the task leaves its outcome unknown', async () => {
  await start((call) => {
    if (call.method !== 'SendStreamingMessage') return call.response.socket?.destroy()
    call.event({ task: task('TASK_STATE_WORKING') })
    setImmediate(() => call.response.destroy())
  })
  desk.receive('t1', text('hi'))
  await desk.until(ended)
  expect(desk.of('ended')[0]?.reason).toBe('backend_outcome_unknown')
})

test('an agent without streaming is asked until it is done', async () => {
  let asked = 0
  await start((call) => {
    if (call.method === 'SendMessage') return call.result({ task: task('TASK_STATE_WORKING') })
    asked += 1
    const message = { messageId: 'r', role: 'ROLE_AGENT', parts: [{ text: 'done' }] }
    call.result(
      asked < 3 ? task('TASK_STATE_WORKING') : task('', { status: { state: 'TASK_STATE_COMPLETED', message } }),
    )
  })
  backend.card = { ...(backend.card as object), capabilities: {} }
  desk.receive('t1', text('hi'))
  await desk.until(ended)
  expect(asked).toBe(3)
  expect(desk.of('artifact')[0]?.artifact.parts).toEqual([{ text: 'done' }])
})

test('a slow agent is announced as working', async () => {
  await start(() => undefined, { timing: { workingAfterMs: 5 } })
  desk.receive('t1', text('hi'))
  await desk.until(() => desk.state('t1') === 'TASK_STATE_WORKING')
})

test('a cancel reaches a running agent, and its late answer changes nothing', async () => {
  await start((call) => {
    if (call.method === 'CancelTask') return call.result(task('TASK_STATE_CANCELED'))
    call.event({ task: task('TASK_STATE_WORKING') })
  })
  desk.receive('t1', text('hi'))
  await desk.until(() => desk.state('t1') === 'TASK_STATE_WORKING')
  desk.cancel('t1')
  await desk.until(ended)
  expect(backend.of('CancelTask')[0]?.params.id).toBe('backend-task')
  expect(desk.state('t1')).toBe('TASK_STATE_CANCELED')
})

test('a cancel while the agent is away ends the task, and nothing is ever written', async () => {
  await start(() => undefined, { listen: false, timing: { firstRetryMs: 60_000, maxRetryMs: 60_000 } })
  desk.receive('t1', text('hi'))
  desk.cancel('t1')
  await desk.until(ended)
  expect(desk.state('t1')).toBe('TASK_STATE_CANCELED')
  expect(desk.of('started')).toEqual([])
})

test('a cancel before the agent named its task waits for the name', async () => {
  let first: (() => void) | undefined
  await start((call) => {
    if (call.method === 'CancelTask') return call.result(task('TASK_STATE_CANCELED'))
    first = () => call.event({ task: task('TASK_STATE_SUBMITTED') })
  })
  desk.receive('t1', text('hi'))
  await backend.called('SendStreamingMessage')
  desk.cancel('t1')
  first?.()
  await desk.until(ended)
  expect(backend.of('CancelTask')).toHaveLength(1)
  expect(desk.state('t1')).toBe('TASK_STATE_CANCELED')
})

test('a cancel that the agent never answers is not for ever', async () => {
  await start(
    (call) => {
      if (call.method !== 'CancelTask') call.event({ task: task('TASK_STATE_WORKING') })
    },
    { timing: { cancelMs: 20 } },
  )
  desk.receive('t1', text('hi'))
  await desk.until(() => desk.state('t1') === 'TASK_STATE_WORKING')
  desk.cancel('t1')
  await desk.until(ended)
  expect(desk.of('status').at(-1)?.status).toMatchObject({ state: 'TASK_STATE_CANCELED', effectStatus: 'UNVERIFIED' })
})

test('an agent that cannot cancel goes on', async () => {
  let finish: (() => void) | undefined
  await start((call) => {
    if (call.method === 'CancelTask') {
      call.response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32002, message: 'no' } }))
      finish?.()
      return
    }
    call.event({ task: task('TASK_STATE_WORKING') })
    finish = () => (call.event(statusUpdate('TASK_STATE_COMPLETED', 'done anyway')), call.response.end())
  })
  desk.receive('t1', text('hi'))
  await desk.until(() => desk.state('t1') === 'TASK_STATE_WORKING')
  desk.cancel('t1')
  await desk.until(ended)
  expect(desk.state('t1')).toBe('TASK_STATE_COMPLETED')
})

test('a cancel of a task that waits for an answer reaches the agent too', async () => {
  await start((call) => {
    if (call.method === 'CancelTask') return call.result(task('TASK_STATE_CANCELED'))
    call.event({ task: task('TASK_STATE_WORKING') })
    call.event(statusUpdate('TASK_STATE_INPUT_REQUIRED', 'well?'))
    call.response.end()
  })
  desk.receive('t1', text('hi'))
  await desk.until(ended)
  desk.cancel('t1')
  await desk.until(() => desk.state('t1') === 'TASK_STATE_CANCELED')
  expect(backend.of('CancelTask')).toHaveLength(1)
})

test('links arrive as text, and ANet metadata of the agent does not arrive', async () => {
  await start((call) => {
    call.event({ task: task('TASK_STATE_WORKING') })
    const parts = [{ url: 'https://x.example/f', metadata: { 'anet.file': { size: 1 }, kept: true } }]
    call.event({
      artifactUpdate: { taskId: 'backend-task', artifact: { artifactId: 'a', parts, metadata: { 'x402.a': 1 } } },
    })
    call.event(statusUpdate('TASK_STATE_COMPLETED'))
    call.response.end()
  })
  desk.receive('t1', text('hi'))
  await desk.until(ended)
  expect(desk.of('artifact')[0]?.artifact).toEqual({
    artifactId: 'a',
    parts: [{ text: 'https://x.example/f', metadata: { kept: true } }],
  })
})

test('words said while working are all passed on, gathered', async () => {
  await start((call) => {
    call.event({ task: task('TASK_STATE_WORKING') })
    for (let step = 0; step < 50; step++) call.event(statusUpdate('TASK_STATE_WORKING', `${step},`))
    call.event(statusUpdate('TASK_STATE_COMPLETED'))
    call.response.end()
  })
  desk.receive('t1', text('hi'))
  await desk.until(ended)
  const said = desk.of('status').flatMap(({ status }) => status.message?.parts.map((part) => part.text) ?? [])
  expect(said.join('')).toBe(Array.from({ length: 50 }, (_, step) => `${step},`).join(''))
  expect(desk.of('status').length).toBeLessThan(10)
})

test('doctor names each backend with what was checked, or what is wrong', async () => {
  await start(() => undefined)
  expect(await backends?.checks()).toMatchObject([
    {
      name: 'backend *',
      outcome: 'ok',
      seen: expect.stringMatching(/path of .* checked.*serves the card of "Scripted"/),
    },
  ])
  backend.card = 'not a card'
  expect(await backends?.checks()).toMatchObject([{ outcome: 'fail', seen: expect.stringContaining('card') }])
  backend.card = JSON.stringify({ ...(backend.card as object), name: 'x'.repeat(300 * 1024) })
  expect(await backends?.checks()).toMatchObject([{ outcome: 'fail', seen: expect.stringContaining('too large') }])
  await backend.close()
  expect(await backends?.checks()).toMatchObject([
    { outcome: 'fail', seen: expect.stringContaining('cannot be reached') },
  ])
})

test('a token file that cannot be read is named, and nothing is sent', async () => {
  await start(() => undefined, { settings: { token_file: join(dir, 'none') }, timing: { giveUpAfterMs: 0 } })
  expect(await backends?.checks()).toMatchObject([{ outcome: 'fail', seen: expect.stringContaining('token file') }])
  desk.receive('t1', text('hi'))
  await desk.until(ended)
  expect(backend.calls).toEqual([])
})

const completed: Script = (call) => {
  call.event(statusUpdate('TASK_STATE_COMPLETED', 'done'))
  call.response.end()
}

test('a backend on loopback TCP that runs as this user is served, with its token', async () => {
  backend = new ScriptedBackend(completed)
  const url = await backend.listenOnTcp()
  const tokenFile = join(dir, 'token')
  await writeFile(tokenFile, 'the-token\n')
  await forwardTo({ settings: { url, allow_tcp: true, token_file: tokenFile } })
  desk.receive('t1', text('hi'))
  await desk.until(ended)
  expect(desk.state('t1')).toBe('TASK_STATE_COMPLETED')
  expect(backend.calls[0]?.authorization).toBe('Bearer the-token')
})

test('a card that names another origin gets neither message nor token there', async () => {
  const elsewhere = new ScriptedBackend(completed)
  const other = await elsewhere.listenOnTcp()
  backend = new ScriptedBackend(completed)
  const url = await backend.listenOnTcp()
  backend.nameOrigin(other)
  await forwardTo({ settings: { url, allow_tcp: true }, timing: { giveUpAfterMs: 0 } })
  desk.receive('t1', text('hi'))
  await desk.until(ended)
  await elsewhere.close()
  expect(elsewhere.calls).toEqual([])
  expect(desk.of('ended')[0]?.reason).toBe('backend_unreachable')
  expect(desk.of('started')).toEqual([])
})
