// `npm start`: builds what is stale, finds an Electron, and opens ANet. `npm start -- --flag` passes flags to Electron.
import { spawn, spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { resolveElectron } from './electron-runtime.mjs'
import { ensureBuilt } from './output.mjs'

const root = resolve(import.meta.dirname, '..')
const say = (sentence) => process.stderr.write(`${sentence}\n`)

/** Debian's names of the packages that hold the libraries Electron may miss. */
const packagesOf = {
  'libnss3.so': 'libnss3',
  'libnssutil3.so': 'libnss3',
  'libsmime3.so': 'libnss3',
  'libgtk-3.so.0': 'libgtk-3-0',
  'libgdk-3.so.0': 'libgtk-3-0',
  'libgbm.so.1': 'libgbm1',
  'libasound.so.2': 'libasound2',
  'libatk-1.0.so.0': 'libgtk-3-0',
  'libcups.so.2': 'libcups2',
  'libdrm.so.2': 'libdrm2',
}

/** What keeps a window from opening on this computer, or undefined. */
function obstacle(executable) {
  if (process.platform !== 'linux') return undefined
  const missing = spawnSync('ldd', [executable], { encoding: 'utf8' })
    .stdout?.split('\n')
    .filter((line) => line.includes('not found'))
    .map((line) => line.trim().split(' ')[0])
  if (missing?.length > 0) {
    const packages = [...new Set(missing.map((library) => packagesOf[library] ?? library))]
    return `Electron misses shared libraries: ${missing.join(', ')}.\nOn Debian or Ubuntu: apt install ${packages.join(' ')}`
  }
  if (!process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) {
    return 'There is no display to open a window on.\nIn a desktop session start again; without one: npm run demo, or apt install xvfb xauth dbus and xvfb-run -a dbus-run-session npm start'
  }
  return undefined
}

async function start() {
  const problem = await ensureBuilt(root)
  if (problem !== undefined) throw new Error(problem)
  const { executable, version, source } = await resolveElectron(say)
  if (source === 'pinned')
    say(`This is Electron ${version} from an npm package, an older version for trying and testing.`)
  const inTheWay = obstacle(executable)
  if (inTheWay !== undefined) throw new Error(inTheWay)
  const flags = []
  if (process.getuid?.() === 0) {
    say('Running as root: Chromium has no sandbox then. Use an ordinary account for anything but a test.')
    flags.push('--no-sandbox')
  }
  const child = spawn(executable, [...flags, ...process.argv.slice(2), root], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
  child.once('exit', (code, signal) => process.exit(signal === null ? (code ?? 0) : 1))
}

start().catch((error) => {
  say(error.message)
  process.exit(1)
})
