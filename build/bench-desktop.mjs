// `npm run bench:desktop`: the desktop against an empty Electron window, as ratios of one run. `--json` prints for programs.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { _electron } from 'playwright-core'
import { resolveElectron } from './electron-runtime.mjs'
import { ensureBuilt } from './output.mjs'
import { makePackage } from './package.mjs'
import { inVirtualDesktop } from './virtual-desktop.mjs'

const root = resolve(import.meta.dirname, '..')
const rounds = 3
/** How long a window is left alone before it is looked at, and how long it is watched. Chromium itself takes 10 s to rest. */
const settleMs = 12_000
const watchMs = 10_000

/** Goals as ratios to the empty window; a desktop application may cost this much more. */
const goals = { start: 3, memory: 2.5, wakeUps: 3, size: 1.5 }

async function main() {
  const problem = await ensureBuilt(root)
  if (problem !== undefined) throw new Error(problem)
  const { executable } = await resolveElectron((sentence) => process.stderr.write(`${sentence}\n`))
  const work = mkdtempSync(join(tmpdir(), 'anet-bench-desktop-'))
  try {
    const empty = emptyApplication(join(work, 'empty'))
    const samples = { anet: [], empty: [] }
    for (let round = 0; round < rounds; round += 1) {
      const dataDir = join(work, `data-${round}`)
      initialise(dataDir)
      samples.anet.push(await measure(executable, root, 'h1', { ANET_DATA_DIR: dataDir }))
      samples.empty.push(await measure(executable, empty, 'h1', {}))
    }
    await makePackage()
    const sizes = { anet: sizeOf(join(root, 'dist/linux-unpacked')), empty: sizeOf(dirname(executable)) }
    report(samples, sizes)
  } finally {
    // Chromium's helpers outlive the application by a moment
    rmSync(work, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  }
}

/** With an identity the node runs, as it does every day; the first run would be busy with testing the keychain. */
function initialise(dataDir) {
  const parameters = ['init', '--secret-store', 'file', '--recovery-file', `${dataDir}-phrase`]
  const env = { ...process.env, ANET_DATA_DIR: dataDir }
  execFileSync(process.execPath, [join(root, 'out/cli/index.js'), ...parameters], { env, stdio: 'ignore' })
}

/** The least that Electron can be asked for: one window with one heading. */
function emptyApplication(folder) {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'empty', version: '1.0.0', main: 'main.cjs' }))
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>empty</title><h1>Empty</h1>')
  writeFileSync(
    join(folder, 'main.cjs'),
    `const { app, BrowserWindow } = require('electron')
app.setPath('userData', ${JSON.stringify(join(folder, 'data'))})
app.whenReady().then(() => new BrowserWindow({ width: 1280, height: 800 }).loadFile('index.html'))
`,
  )
  return folder
}

/** One start: until the heading is there, then idle. Memory in bytes (PSS), wake-ups a second over all processes. */
async function measure(executablePath, folder, heading, env) {
  const flags = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const begun = performance.now()
  const app = await _electron.launch({
    executablePath,
    args: [...flags, '--disable-gpu', folder],
    cwd: folder,
    colorScheme: null,
    env: { ...process.env, ...env },
  })
  const ended = once(app.process(), 'exit')
  try {
    const page = await app.firstWindow()
    await page.locator(heading).first().waitFor()
    const start = performance.now() - begun
    await sleep(settleMs)
    const metrics = await app.evaluate(({ app: electron }) =>
      electron.getAppMetrics().map(({ pid, type }) => ({ pid, type })),
    )
    const before = new Map(metrics.flatMap(({ pid }) => switches(pid)))
    await sleep(watchMs)
    // the one that asked the keychain ends by itself
    const alive = metrics.filter(({ pid }) => existsSync(`/proc/${pid}/task`))
    // threads come and go: one that is new has all its switches behind it, one that is gone none that can be read
    const counted = alive
      .flatMap(({ pid }) => switches(pid))
      .reduce((sum, [thread, count]) => sum + count - (before.get(thread) ?? 0), 0)
    const wakeUps = counted / (watchMs / 1000)
    const processes = alive.map(({ pid, type }) => ({ type, bytes: proportionalSize(pid) }))
    return { start, wakeUps, processes, memory: processes.reduce((sum, { bytes }) => sum + bytes, 0) }
  } finally {
    await app.evaluate(({ app: electron }) => electron.exit(0)).catch(() => {})
    await ended
  }
}

function proportionalSize(pid) {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  return Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024
}

/** Voluntary context switches of each thread: each is a wait that ended. */
function switches(pid) {
  return readdirSync(`/proc/${pid}/task`).map((thread) => {
    const text = readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8')
    return [`${pid}/${thread}`, Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(text)?.[1] ?? 0)]
  })
}

function sizeOf(path) {
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.size
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

function report(samples, sizes) {
  const of = (name) => ({
    anet: median(samples.anet.map((each) => each[name])),
    empty: median(samples.empty.map((each) => each[name])),
  })
  const rows = [
    row('start', 'start to a usable window', of('start'), (ms) => `${Math.round(ms)} ms`),
    row('memory', 'idle memory, all processes (PSS)', of('memory'), megabytes),
    row('wakeUps', 'idle wake-ups a second, all processes', of('wakeUps'), (count) => count.toFixed(1)),
    row('size', 'package', sizes, megabytes),
  ]
  const processes = samples.anet.at(-1)?.processes ?? []
  mkdirSync(join(root, 'bench/results'), { recursive: true })
  const result = { at: new Date().toISOString(), rows, processes }
  writeFileSync(
    join(root, 'bench/results', `desktop-${result.at.slice(0, 19).replaceAll(':', '')}.json`),
    `${JSON.stringify(result, null, 2)}\n`,
  )
  if (process.argv.includes('--json')) {
    process.stdout.write(`${JSON.stringify(result)}\n`)
    return
  }
  for (const { what, anet, empty, ratio, goal, met } of rows) {
    process.stdout.write(
      `${what.padEnd(40)} ${anet.padStart(10)}  empty ${empty.padStart(10)}  ${ratio.toFixed(2)} (goal ≤ ${goal}) ${met ? 'met' : 'missed'}\n`,
    )
  }
  for (const { type, bytes } of processes) process.stdout.write(`  ${type.padEnd(12)} ${megabytes(bytes)}\n`)
}

function row(name, what, { anet, empty }, show) {
  // an empty window that rests wakes up less than once a second: a ratio to that would say nothing
  const ratio = anet / (name === 'wakeUps' ? Math.max(empty, 1) : empty)
  if (!Number.isFinite(ratio)) throw new Error(`The row "${name}" was not measured.`)
  return { name, what, anet: show(anet), empty: show(empty), ratio, goal: goals[name], met: ratio <= goals[name] }
}

function megabytes(bytes) {
  return `${(bytes / 1024 / 1024).toFixed(0)} MiB`
}

if (!inVirtualDesktop(import.meta.filename)) {
  main().catch((error) => {
    process.stderr.write(`${error.stack}\n`)
    process.exitCode = 1
  })
}
