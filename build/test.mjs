// Runs the tests: all of them in a virtual display with a session bus where both are there, else without the desktop's.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const vitest = [process.execPath, resolve(root, 'node_modules/vitest/vitest.mjs'), 'run']
const given = process.argv.slice(2)
const wantsDesktop = !given.includes('--project') || given[given.indexOf('--project') + 1] === 'desktop'

function has(command) {
  return spawnSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' }).status === 0
}

const missing = wantsDesktop ? ['xvfb-run', 'dbus-run-session', 'xclip'].filter((command) => !has(command)) : []
let command = [...vitest, ...given]
if (wantsDesktop && missing.length === 0) {
  command = ['xvfb-run', '-a', '-s', '-screen 0 1280x800x24', 'dbus-run-session', '--', ...command]
} else if (wantsDesktop) {
  const sentence = `The desktop tests did not run: ${missing.join(', ')} missing (Debian: xvfb xauth dbus xclip).`
  if (process.env.CI === 'true' || given.includes('desktop')) {
    process.stderr.write(`${sentence}\n`)
    process.exit(1)
  }
  process.stdout.write(`${sentence}\n`)
  command.push('--project', '!desktop')
}
const [file, ...args] = command
const folder = mkdtempSync(join(tmpdir(), 'anet-test-'))
const closingLine = join(folder, 'closing-line')
const child = spawn(file, args, {
  cwd: root,
  env: { ...process.env, ANET_CLOSING_LINE: closingLine, FORCE_COLOR: process.stdout.isTTY ? '1' : '0' },
  stdio: ['inherit', 'pipe', 'pipe'],
})
child.stdout.pipe(process.stdout)
child.stderr.pipe(process.stderr)
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
// not "close": what a session bus has started may hold the pipes open, and nothing it says belongs after the last line
child.once('exit', (code) => {
  child.stdout.unpipe()
  child.stderr.unpipe()
  const line = existsSync(closingLine) ? readFileSync(closingLine, 'utf8') : '0 passed, 1 failed\n'
  rmSync(folder, { recursive: true, force: true })
  process.stdout.write(line, () => process.exit(code ?? 1))
})
