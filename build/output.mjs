// Keeps out/ in step with the sources: who finds it missing or stale builds it, under a lock, and swaps it in whole.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const sources = ['src-main', 'src-shared', 'src-hub', 'src-renderer', 'electron.vite.config.ts', 'package-lock.json']
const entry = 'cli/index.js'

/**
 * Builds when needed. Returns a sentence when that is not possible, undefined when the output is fresh. Two at once: one
 * builds, the other waits. Progress goes to stderr.
 * @param {string} root
 * @param {{ force?: boolean, build?: (root: string, outDir: string) => string | undefined }} [options]
 * @returns {Promise<string | undefined>}
 */
export async function ensureBuilt(root, { force = false, build = runElectronVite } = {}) {
  if (!force && isFresh(root)) return undefined
  const release = await takeLock(join(root, '.cache', 'build.lock'))
  try {
    // whoever held the lock may just have built these sources
    if (!force && isFresh(root)) return undefined
    // taken before the build: what is edited meanwhile makes the output stale again
    const stamp = stampOf(root)
    process.stderr.write('anet: building from the sources, this takes a few seconds…\n')
    rmSync(join(root, 'out.new'), { recursive: true, force: true })
    const problem = build(root, join(root, 'out.new'))
    if (problem !== undefined) return problem
    writeFileSync(join(root, 'out.new', '.stamp'), stamp)
    rmSync(join(root, 'out.old'), { recursive: true, force: true })
    if (existsSync(join(root, 'out'))) renameSync(join(root, 'out'), join(root, 'out.old'))
    renameSync(join(root, 'out.new'), join(root, 'out'))
    rmSync(join(root, 'out.old'), { recursive: true, force: true })
    return undefined
  } finally {
    release()
  }
}

function isFresh(root) {
  if (!existsSync(join(root, 'out', entry))) return false
  try {
    return readFileSync(join(root, 'out', '.stamp'), 'utf8') === stampOf(root)
  } catch {
    return false
  }
}

/** Names, times and sizes of the sources: a few milliseconds, where reading them would take a hundred. */
function stampOf(root) {
  const hash = createHash('sha256')
  const visit = (path) => {
    const stat = statSync(join(root, path), { throwIfNoEntry: false })
    if (stat?.isDirectory()) for (const name of readdirSync(join(root, path)).sort()) visit(join(path, name))
    else if (stat !== undefined) hash.update(`${path}\0${stat.mtimeMs}\0${stat.size}\n`)
  }
  for (const source of sources) visit(source)
  return hash.digest('hex')
}

function runElectronVite(root, outDir) {
  const tool = join(root, 'node_modules', 'electron-vite', 'bin', 'electron-vite.js')
  if (!existsSync(tool)) return 'anet cannot build itself: the dependencies are missing. Run "npm ci" first.'
  const { status, error } = spawnSync(process.execPath, [tool, 'build', '--logLevel', 'warn'], {
    cwd: root,
    env: { ...process.env, ANET_OUT_DIR: outDir },
    // stdout belongs to the command that runs afterwards
    stdio: ['ignore', 2, 2],
  })
  if (status === 0) return undefined
  return `anet could not be built${error === undefined ? '' : ` (${error.message})`}: see the messages above.`
}

/** Waits for the lock file and returns its release. The lock of a process that is gone is broken. */
async function takeLock(path) {
  mkdirSync(join(path, '..'), { recursive: true })
  let told = false
  for (;;) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' })
      return () => rmSync(path, { force: true })
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    if (!isHeld(path)) {
      breakLock(path)
      continue
    }
    if (!told) process.stderr.write('anet: waiting for another build of the same tree…\n')
    told = true
    await sleep(100)
  }
}

function isHeld(path) {
  let pid
  let age
  try {
    pid = Number(readFileSync(path, 'utf8'))
    age = Date.now() - statSync(path).mtimeMs
  } catch {
    return false
  }
  // between creating and writing the file is empty for a moment
  if (!Number.isInteger(pid) || pid <= 0) return age < 2000
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** Moves the lock aside before judging it again: of two that break it at once, the second must not remove a new one. */
function breakLock(path) {
  const aside = `${path}.${process.pid}`
  try {
    renameSync(path, aside)
  } catch {
    return
  }
  if (isHeld(aside)) {
    try {
      linkSync(aside, path)
    } catch {
      // a third process holds the lock by now
    }
  }
  rmSync(aside, { force: true })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problem = await ensureBuilt(fileURLToPath(new URL('..', import.meta.url)), { force: true })
  if (problem !== undefined) {
    process.stderr.write(`${problem}\n`)
    process.exitCode = 1
  }
}
