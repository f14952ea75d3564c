// Runs the tests: all of them in a virtual display with a session bus where both are there, else without the desktop's.
import { spawn, spawnSync } from 'node:child_process'
import { resolve } from 'node:path'

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
const child = spawn(file, args, { cwd: root, stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
child.once('exit', (code) => process.exit(code ?? 1))
