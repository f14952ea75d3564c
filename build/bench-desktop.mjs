// `npm run bench:desktop`: the desktop against an empty Electron window, as ratios of one run. `--json` prints for programs.
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
/** How long a window is left alone before it is looked at, and how long it is watched. */
const settleMs = 4000
const watchMs = 5000

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
    const before = new Map(metrics.map(({ pid }) => [pid, switches(pid)]))
    await sleep(watchMs)
    // the one that asked the keychain ends by itself
    const alive = metrics.filter(({ pid }) => existsSync(`/proc/${pid}/task`))
    const counted = alive.reduce((sum, { pid }) => sum + switches(pid) - (before.get(pid) ?? 0), 0)
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

/** Voluntary context switches of all threads: each is a wait that ended. */
function switches(pid) {
  let sum = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const text = readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8')
    sum += Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(text)?.[1] ?? 0)
  }
  return sum
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
  const ratio = anet / empty
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
