import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { descendants } from '../helpers/demo.ts'
import { electron } from '../helpers/desktop-app.ts'

// Root runs Chromium without its sandbox, so as root this starts the application as somebody else.
const asRoot = process.getuid?.() === 0
const root = resolve(import.meta.dirname, '../..')
let folder: string
let app: ChildProcess | undefined

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'anet-sandbox-'))
})
afterAll(async () => {
  const application = descendants(app?.pid ?? 0).find((pid) => isApplication(commandOf(pid)))
  if (app !== undefined && app.exitCode === null) {
    const ended = once(app, 'exit')
    process.kill(application ?? app.pid ?? 0, 'SIGTERM')
    await ended
  }
  // Chromium's helpers outlive the application by a moment
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
})

test('the page runs in the sandbox of the kernel, or the kernel says why not', async () => {
  const { executable, application } = await placeWhereOthersCanRead()
  const dataDir = join(folder, 'data')
  mkdirSync(dataDir, { mode: 0o700 })
  const command = ['xvfb-run', '-a', 'dbus-run-session', '--', executable, '--disable-gpu', application]
  const [file = '', ...parameters] = asRoot ? ['runuser', '-u', 'nobody', '--', ...command] : command
  if (asRoot) spawnSync('chown', ['-R', 'nobody', folder])
  let output = ''
  const { DISPLAY: _display, DBUS_SESSION_BUS_ADDRESS: _bus, XDG_RUNTIME_DIR: _runtime, ...env } = process.env
  const started = spawn(file, parameters, {
    cwd: '/',
    env: { ...env, HOME: folder, TMPDIR: folder, ANET_DATA_DIR: dataDir },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  app = started
  started.stderr.on('data', (chunk: Buffer) => void (output += chunk.toString()))

  const refused =
    /(No usable sandbox!|Failed to move to new namespace[^\n]*|SUID sandbox helper binary was found[^\n]*)/
  const renderer = (): number | undefined =>
    descendants(started.pid ?? 0).find((pid) => commandOf(pid).includes('--type=renderer'))
  await expect
    .poll(() => renderer() !== undefined || refused.test(output) || started.exitCode !== null, { timeout: 30_000 })
    .toBe(true)
  const reason = refused.exec(output)?.[0]
  if (reason !== undefined) {
    // a kernel without user namespaces: the application must not run without its sandbox instead
    expect(renderer()).toBeUndefined()
    process.stderr.write(`The sandbox was not tested: the kernel refuses it (${reason}).\n`)
    return
  }
  const pid = renderer() ?? 0
  await expect.poll(() => statusOf(pid)['Seccomp'], { timeout: 10_000 }).toBe('2')
  expect(statusOf(pid)['NoNewPrivs']).toBe('1')
  expect(commandOf(pid)).not.toContain('--no-sandbox')
})

/** Runtime and build lie below a home directory that only its owner enters, perhaps: then in a copy. */
async function placeWhereOthersCanRead(): Promise<{ executable: string; application: string }> {
  const { executable } = await electron
  if (!asRoot) return { executable, application: root }
  const runtime = readableByNobody(executable) ? dirname(executable) : join(folder, 'electron')
  if (!existsSync(runtime)) cpSync(dirname(executable), runtime, { recursive: true, verbatimSymlinks: true })
  if (readableByNobody(join(root, 'out/main/index.js')))
    return { executable: join(runtime, 'electron'), application: root }
  const application = join(folder, 'application')
  for (const part of [
    'out',
    'package.json',
    'node_modules/@photostructure',
    'node_modules/koffi',
    'node_modules/@koromix',
  ])
    cpSync(join(root, part), join(application, part), { recursive: true })
  return { executable: join(runtime, 'electron'), application }
}

function readableByNobody(file: string): boolean {
  return spawnSync('runuser', ['-u', 'nobody', '--', 'test', '-r', file]).status === 0
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

function statusOf(pid: number): Readonly<Record<string, string>> {
  const lines = readFileSync(`/proc/${pid}/status`, 'utf8').trim().split('\n')
  return Object.fromEntries(lines.map((line) => line.split(/:\s+/) as [string, string]))
}

/** Electron's first process, not one of its helpers, nor a shell that was told to start it. */
function isApplication(command: string): boolean {
  // Chromium rewrites its command line, with spaces
  return command.split(/[\0 ]/)[0]?.endsWith('/electron') === true && !command.includes('--type=')
}
