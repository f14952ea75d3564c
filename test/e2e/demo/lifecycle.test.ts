import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { descendants, type RunningDemo, startDemo } from '../../helpers/demo.ts'

const demos: RunningDemo[] = []
const dirs: string[] = []
afterEach(async () => {
  for (const demo of demos.splice(0)) await demo.stop()
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true })
})

async function demoIn(dir?: string): Promise<RunningDemo> {
  const demo = await startDemo(dir === undefined ? {} : { dir })
  demos.push(demo)
  return demo
}

function temporaryDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'anet-demo-'))
  dirs.push(dir)
  return dir
}

/** Polls the process table: processes of a killed parent are nobody's children here. */
async function allGone(pids: readonly number[]): Promise<void> {
  const alive = () => pids.filter((pid) => existsSync(`/proc/${pid}`) && !isZombie(pid))
  for (const until = Date.now() + 15_000; alive().length > 0 && Date.now() < until;) await delay(20)
  expect(alive()).toEqual([])
}

function isZombie(pid: number): boolean {
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return true
  }
}

async function send(
  demo: RunningDemo,
  url: string,
  message: object,
): Promise<{ task: { id: string; status: { state: string }; artifacts?: { parts: { text?: string }[] }[] } }> {
  const response = await fetch(`${url}/rest/message:send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${demo.token()}`, 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ message: { role: 'ROLE_USER', ...message } }),
  })
  expect(response.status).toBe(200)
  return (await response.json()) as Awaited<ReturnType<typeof send>>
}

test('a hub, an agent host and four nodes run, and Ctrl+C ends them all', async () => {
  const demo = await demoIn()
  expect(demo.ready.agents.map(({ name }) => name).toSorted()).toEqual(['Asker', 'Echo', 'Summariser'])
  expect(readFileSync(join(demo.ready.dataDir, 'modules/a2a/a2a_addr.txt'), 'utf8').trim()).toBe(demo.ready.addr)
  const children = descendants(demo.process.pid ?? 0)
  expect(children).toHaveLength(6)
  expect(await demo.stop()).toBe(0)
  await allGone(children)
})

test('when the demo is killed, every process of it ends', async () => {
  const demo = await demoIn(temporaryDir())
  const children = descendants(demo.process.pid ?? 0)
  demo.process.kill('SIGKILL')
  await once(demo.process, 'exit')
  await allGone(children)
})

test('started again on its directory it is the same network at the same address', async () => {
  const dir = temporaryDir()
  const first = await demoIn(dir)
  const done = await send(first, first.agent('Echo').url, { messageId: 'm-1', parts: [{ text: 'remember me' }] })
  await first.stop()
  const second = await demoIn(dir)
  expect(second.ready).toEqual(first.ready)
  const task = await fetch(`${second.agent('Echo').url}/rest/tasks/${done.task.id}`, {
    headers: { authorization: `Bearer ${second.token()}` },
  })
  expect(await task.json()).toMatchObject({ id: done.task.id, status: { state: 'TASK_STATE_COMPLETED' } })
})

test('the asker is asked, answered and done, through the whole network', async () => {
  const demo = await demoIn()
  const { url } = demo.agent('Asker')
  const asked = await send(demo, url, { messageId: 'm-1', parts: [{ text: 'An invitation' }] })
  expect(asked.task.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
  const answered = await send(demo, url, { messageId: 'm-2', taskId: asked.task.id, parts: [{ text: 'Ann' }] })
  expect(answered.task.status.state).toBe('TASK_STATE_COMPLETED')
  expect(answered.task.artifacts?.[0]?.parts[0]?.text).toBe('For Ann: An invitation')
})

test('a process that dies is started again, and the network goes on', async () => {
  const demo = await demoIn()
  const children = descendants(demo.process.pid ?? 0)
  const { url } = demo.agent('Summariser')
  for (const pid of children) {
    process.kill(pid, 'SIGKILL')
    await allGone([pid])
  }
  // the operator's endpoint comes back at its address
  const summary = async () => {
    try {
      return await send(demo, url, { messageId: 'm-1', contextId: 'c', parts: [{ text: 'One sentence only.' }] })
    } catch {
      await delay(100)
      return undefined
    }
  }
  let answer = await summary()
  for (const until = Date.now() + 60_000; answer === undefined && Date.now() < until;) answer = await summary()
  expect(answer?.task.artifacts?.[0]?.parts[0]?.text).toBe('One sentence only.')
})

test.each(['echo', 'agents'])('a kill of %s in the middle of a task ends it with a reason, once', async (victim) => {
  const demo = await demoIn()
  const { url } = demo.agent('Echo')
  const text = Array.from({ length: 100 }, (_, word) => `word${word}`).join(' ')
  const headers = {
    authorization: `Bearer ${demo.token()}`,
    'content-type': 'application/json',
    'a2a-extensions': 'https://anet.example/a2a/extensions/anet-preview/v1',
  }
  const message = { role: 'ROLE_USER', messageId: 'm-1', parts: [{ text }] }
  const response = await fetch(`${url}/rest/message:stream`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ message }),
  })
  let seen = ''
  let killed = false
  for await (const chunk of response.body ?? []) {
    seen += Buffer.from(chunk).toString()
    // the first piece of the reply: the agent is at work
    if (!killed && seen.includes('"artifactUpdate"')) {
      killed = true
      process.kill(processOf(demo, victim), 'SIGKILL')
    }
  }
  const last = seen.trim().split('\n').at(-1) ?? ''
  expect(last).toContain('TASK_STATE_FAILED')
  expect(last).toContain('"anet.reason":"backend_outcome_unknown"')
  expect(last).toContain('"anet.effect_status":"UNVERIFIED"')
})

/** pid of a node by its lock, or of the process of the agents by its command line. */
function processOf(demo: RunningDemo, name: string): number {
  const pids = descendants(demo.process.pid ?? 0)
  if (name !== 'agents') {
    const lock = readFileSync(join(demo.dir, name, 'node.lock'), 'utf8')
    return pids.find((pid) => new RegExp(`\\b${pid}\\b`).test(lock)) ?? expect.fail(`no process of ${name}`)
  }
  const isAgents = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('agents-process')
  return pids.find(isAgents) ?? expect.fail('no process of the agents')
}

test('a directory with a long name works, and everything in it is private', async () => {
  const dir = join(temporaryDir(), 'a-directory-with-a-very-long-name-'.repeat(4))
  mkdirSync(dir, { mode: 0o700 })
  const demo = await demoIn(dir)
  const done = await send(demo, demo.agent('Echo').url, { messageId: 'm-1', parts: [{ text: 'hello' }] })
  expect(done.task.status.state).toBe('TASK_STATE_COMPLETED')
  for (const part of ['hub', 'agents', 'echo', 'asker', 'summariser', 'operator']) {
    expect(statSync(join(dir, part)).mode & 0o077, part).toBe(0)
  }
})
