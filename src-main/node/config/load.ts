import { join } from 'node:path'
import { type Config, configSchema } from '@shared/config/index.ts'
import { readPrivateFile } from '../data-dir/index.ts'
import { configInvalid } from './config-problems.ts'
import { type ConfigText, parseConfigText } from './config-text.ts'

/** Room for ten thousand entries in each of the peer lists. */
const maxBytes = 8 * 1024 * 1024

export function configPath(dataDir: string): string {
  return join(dataDir, 'config.json')
}

/**
 * Reads `config.json`; without one every key has its default. Error: `config_invalid`, which names the line, the key
 * and the remedy; and those of `readPrivateFile`. Nothing is ever written.
 */
export async function loadConfig(dataDir: string): Promise<Config> {
  const source = await readConfigText(dataDir)
  return parseConfig(dataDir, source?.value ?? {}, source)
}

export async function readConfigText(dataDir: string): Promise<ConfigText | undefined> {
  const path = configPath(dataDir)
  // written by the operator's editor, with the mode that gives; the directory keeps others out
  const bytes = await readPrivateFile(path, { maxBytes, readableByOthers: true })
  return bytes === undefined ? undefined : parseConfigText(bytes, path)
}

export function parseConfig(dataDir: string, value: unknown, source: ConfigText | undefined): Config {
  const parsed = configSchema.safeParse(value)
  if (!parsed.success) throw configInvalid(configPath(dataDir), parsed.error.issues, value, source)
  return parsed.data
}
