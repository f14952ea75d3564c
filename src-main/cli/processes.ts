import { setTimeout as delay } from 'node:timers/promises'
import { lockHolder } from '../node/data-dir/index.ts'

/** The command that starts this program again: inside the desktop package, the application with --cli. */
export function selfCommand(): { readonly file: string; readonly prefix: readonly string[] } {
  if (process.versions['electron'] !== undefined) return { file: process.execPath, prefix: ['--cli'] }
  return { file: process.execPath, prefix: [...process.execArgv, process.argv[1] ?? ''] }
}

/** Waits until no node holds the data directory: then everything of it is closed. False if it does after `timeoutMs`. */
export async function nodeGone(dataDir: string, timeoutMs: number): Promise<boolean> {
  const until = Date.now() + timeoutMs
  while ((await lockHolder(dataDir)) !== undefined) {
    if (Date.now() >= until) return false
    await delay(25)
  }
  return true
}
