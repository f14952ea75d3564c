import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { onTestFinished } from 'vitest'

/** The command from the build that the suite began with (build-once.ts): sources may change while it runs. */
export const anetScript = resolve(import.meta.dirname, '../../out/cli/index.js')

export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly dataDir?: string
  readonly input?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Runs `anet` to its end, without a terminal. */
export async function anet(parameters: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const child = startAnet(parameters, options)
  child.process.stdin?.end(options.input ?? '')
  const code = await child.ended
  return { code, stdout: child.stdout, stderr: child.stderr }
}

/** Runs `anet … --json` and parses what it printed. */
export async function anetJson<T>(parameters: readonly string[], options: RunOptions = {}): Promise<T> {
  const { stdout, stderr } = await anet([...parameters, '--json'], options)
  try {
    return JSON.parse(stdout) as T
  } catch {
    throw new Error(`anet ${parameters.join(' ')} printed no JSON: ${stdout}${stderr}`)
  }
}

export interface RunningAnet {
  readonly process: ChildProcess
  readonly stdout: string
  readonly stderr: string
  readonly ended: Promise<number | null>
  /** Resolves when stdout holds a match. */
  printed(pattern: RegExp): Promise<RegExpExecArray>
}

/** Starts `anet` and leaves it running; the test ends it. */
export function startAnet(parameters: readonly string[], options: RunOptions = {}): RunningAnet {
  const child = spawn(process.execPath, [anetScript, ...parameters], {
    env: {
      ...process.env,
      ...(options.dataDir === undefined ? {} : { ANET_DATA_DIR: options.dataDir }),
      ...options.env,
    },
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output.stdout += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (output.stderr += chunk))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    process: child,
    ended,
    get stdout() {
      return output.stdout
    },
    get stderr() {
      return output.stderr
    },
    async printed(pattern) {
      for (;;) {
        const match = pattern.exec(output.stdout)
        if (match !== null) return match
        const more = await Promise.race([once(child.stdout, 'data').then(() => true), ended.then(() => false)])
        if (!more && pattern.exec(output.stdout) === null) {
          throw new Error(`anet ended without printing ${String(pattern)}: ${output.stdout}${output.stderr}`)
        }
      }
    },
  }
}

/** Ends the node of a data directory when the test ends, however far the test came. */
export function stopsWithTest(dataDir: string): void {
  onTestFinished(async () => {
    await anet(['stop', '--force'], { dataDir })
  })
}
