import type { Config } from '@shared/config/index.ts'
import { loadConfig, updateConfig } from './config/index.ts'

/** The configuration of a running node: read at the start, changed only by the node itself, on the disk first. */
export interface LiveConfig {
  get(): Config
  /** Writes config.json and takes the change over. Changes follow one another, none is lost. */
  update(change: (config: Config) => Config): Promise<Config>
}

export async function openConfig(dataDir: string): Promise<LiveConfig> {
  let current = await loadConfig(dataDir)
  let last: Promise<unknown> = Promise.resolve()
  return {
    get: () => current,
    update(change) {
      const next = last.then(async () => (current = await updateConfig(dataDir, change)))
      last = next.catch(() => {})
      return next
    },
  }
}
