import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, watch } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { z } from 'zod'

const root = resolve(import.meta.dirname, '../..')
const anet = resolve(root, 'bin/anet.mjs')

export const readySchema = z.strictObject({
  addr: z.string().regex(/^127\.0\.0\.1:\d+$/),
  tokenFile: z.string(),
  dataDir: z.string(),
  aid: z.string(),
  agents: z.array(z.strictObject({ aid: z.string(), name: z.string(), url: z.url() })),
})
export type Ready = z.infer<typeof readySchema>

export interface RunningDemo {
  readonly ready: Ready
  readonly dir: string
  readonly process: ChildProcess
  readonly output: () => string
  agent(name: 'Echo' | 'Asker' | 'Summariser'): { aid: string; url: string }
  token(): string
  /** Ctrl+C. Resolves with the exit code. */
  stop(): Promise<number | null>
}

export interface DemoOptions {
  /** Its directory; without one it gets a new one, which goes when it stops. */
  readonly dir?: string
  readonly env?: NodeJS.ProcessEnv
  /** How a page starts it, before its options; in a process group of its own, as a terminal would. */
  readonly command?: readonly [string, ...string[]]
}

/** Starts `anet demo` and waits for its ready file. */
export async function startDemo(options: DemoOptions = {}): Promise<RunningDemo> {
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'anet-demo-'))
  const readyDir = mkdtempSync(join(tmpdir(), 'anet-ready-'))
  const readyFile = join(readyDir, 'ready.json')
  const [file, ...parameters] = options.command ?? [process.execPath, anet, 'demo']
  const grouped = options.command !== undefined
  const child = spawn(file, [...parameters, '--data', dir, '--ready-file', readyFile], {
    cwd: root,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: grouped,
  })
  let output = ''
  child.stdout.on('data', (data: Buffer) => (output += data.toString()))
  child.stderr.on('data', (data: Buffer) => (output += data.toString()))
  const exited = once(child, 'exit')
  await fileAppears(readyDir, readyFile, exited).catch((error: unknown) => {
    throw new Error(`the demo did not become ready: ${output}`, { cause: error })
  })
  const ready = readySchema.parse(JSON.parse(readFileSync(readyFile, 'utf8')))
  return {
    ready,
    dir,
    process: child,
    output: () => output,
    agent(name) {
      const found = ready.agents.find((agent) => agent.name === name)
      if (found === undefined) throw new Error(`the demo has no agent ${name}`)
      return found
    },
    token: () => readFileSync(ready.tokenFile, 'utf8').trim(),
    async stop() {
      // Ctrl+C reaches every process of the group
      const runs = child.exitCode === null && child.signalCode === null
      if (runs && grouped && child.pid !== undefined) process.kill(-child.pid, 'SIGINT')
      else child.kill('SIGINT')
      if (runs) await exited
      rmSync(readyDir, { recursive: true, force: true })
      if (options.dir === undefined) rmSync(dir, { recursive: true, force: true })
      return child.exitCode
    },
  }
}

async function fileAppears(dir: string, file: string, exited: Promise<unknown>): Promise<void> {
  const watching = new AbortController()
  const appeared = new Promise<void>((resolve_) => {
    watch(dir, { signal: watching.signal }, () => {
      if (existsSync(file)) resolve_()
    })
    if (existsSync(file)) resolve_()
  })
  const gone = exited.then(() => Promise.reject(new Error('it ended')))
  try {
    await Promise.race([appeared, gone])
  } finally {
    watching.abort()
  }
}

/** Processes whose ancestor is `pid`, as /proc shows them. */
export function descendants(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  const direct = children === '' ? [] : children.split(' ').map(Number)
  return direct.flatMap((child) => [child, ...descendants(child)])
}
