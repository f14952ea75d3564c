// `npm run package`: makes a runnable folder under dist/, for this platform. `--target <name>`: another target of its own.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { resolveElectron } from './electron-runtime.mjs'
import { pinned } from './electron-version.mjs'
import { ensureBuilt } from './output.mjs'

const root = resolve(import.meta.dirname, '..')
const say = (sentence) => process.stderr.write(`${sentence}\n`)

/**
 * @param {{ target?: string }} [options]
 * @returns {Promise<string[]>} what was made
 */
export async function makePackage({ target = 'dir' } = {}) {
  const problem = await ensureBuilt(root)
  if (problem !== undefined) throw new Error(problem)
  const runtime = await resolveElectron(say)
  const electronVersion = versionOf(runtime)
  if (runtime.source === 'pinned')
    say(`Packaging Electron ${electronVersion}, an older version for trying and testing.`)
  const { build, Platform } = await import('electron-builder')
  return build({
    projectDir: root,
    targets: Platform.current().createTarget(target),
    config: {
      ...createRequire(import.meta.url)('./electron-builder.cjs'),
      electronDist: distOf(runtime.executable),
      electronVersion,
    },
  })
}

/** The folder that electron-builder copies: on macOS the one that holds Electron.app. */
function distOf(executable) {
  return process.platform === 'darwin' ? resolve(dirname(executable), '../../..') : dirname(executable)
}

function versionOf({ executable, version, source }) {
  if (source !== 'override') return version
  try {
    return readFileSync(join(distOf(executable), 'version'), 'utf8')
      .trim()
      .replace(/^v/, '')
  } catch {
    // the pinned runtime has no such file
    return pinned.version
  }
}

if (process.argv[1] === import.meta.filename) {
  const at = process.argv.indexOf('--target')
  makePackage(at < 0 ? {} : { target: process.argv[at + 1] }).then(
    (made) => {
      for (const path of made) say(`Made ${path}`)
      if (process.platform === 'linux') say(`Start it with ${join('dist', 'linux-unpacked', 'anet-desktop')}`)
    },
    (error) => {
      say(error.message)
      process.exitCode = 1
    },
  )
}
