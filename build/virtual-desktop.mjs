// Runs a script of its own in a virtual display with a session bus.
import { spawn, spawnSync } from 'node:child_process'

/** What a virtual desktop needs and is not here. */
export function missingForDesktop() {
  const has = (command) => spawnSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' }).status === 0
  return ['xvfb-run', 'dbus-run-session'].filter((command) => !has(command))
}

export const virtualDesktop = ['xvfb-run', '-a', '-s', '-screen 0 1600x1000x24', 'dbus-run-session', '--']

/**
 * Starts `script` again inside a virtual desktop, unless this process is in one already, and passes its exit status on.
 * @param {string} script
 * @returns {boolean} true if the script runs in the other process
 */
export function inVirtualDesktop(script) {
  if (process.env.ANET_VIRTUAL_DESKTOP === '1') return false
  const missing = missingForDesktop()
  if (missing.length > 0) {
    process.stderr.write(`This needs ${missing.join(' and ')} (Debian: apt install xvfb xauth dbus).\n`)
    process.exitCode = 1
    return true
  }
  const [file, ...args] = [...virtualDesktop, process.execPath, script, ...process.argv.slice(2)]
  const child = spawn(file, args, { env: { ...process.env, ANET_VIRTUAL_DESKTOP: '1' }, stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
  child.once('exit', (code) => (process.exitCode = code ?? 1))
  return true
}
