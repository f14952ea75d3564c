import { setTimeout as delay } from 'node:timers/promises'

/** The command that starts this program again: inside the desktop package, the application with --cli. */
export function selfCommand(): { readonly file: string; readonly prefix: readonly string[] } {
  if (process.versions['electron'] !== undefined) return { file: process.execPath, prefix: ['--cli'] }
  return { file: process.execPath, prefix: [...process.execArgv, process.argv[1] ?? ''] }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Waits for the end of a process that is nobody's child here. False if it still runs after `timeoutMs`. */
export async function processGone(pid: number, timeoutMs: number): Promise<boolean> {
  const until = Date.now() + timeoutMs
  while (isAlive(pid)) {
    if (Date.now() >= until) return false
    await delay(25)
  }
  return true
}
