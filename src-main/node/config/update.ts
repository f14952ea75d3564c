import { isDeepStrictEqual } from 'node:util'
import { applyEdits, modify } from 'jsonc-parser'
import type { z } from 'zod'
import type { Config, configSchema } from '@shared/config/index.ts'
import { writePrivateFile } from '../data-dir/index.ts'
import type { JsonPath } from './config-text.ts'
import { configPath, parseConfig, readConfigText } from './load.ts'

/** A configuration as it may be written: keys with a default may be left out. */
export type ConfigInput = z.input<typeof configSchema>

interface Edit {
  readonly path: JsonPath
  /** Undefined removes the key. */
  readonly value: unknown
}

/**
 * Changes `config.json`: only what `change` made different. Every other key stays as it is and where it is (a key next
 * to a new one may be laid out anew); the file is replaced whole. Returns the new configuration. Error: `config_invalid`, if the file is, or would become so.
 */
export async function updateConfig(dataDir: string, change: (config: Config) => ConfigInput): Promise<Config> {
  const source = await readConfigText(dataDir)
  const written = source?.value ?? {}
  const current = parseConfig(dataDir, written, source)
  const next = parseConfig(dataDir, change(structuredClone(current)), undefined)
  const edits = differences(current, next, written, [])
  if (edits.length === 0) return current
  let text = source?.text ?? '{}\n'
  const formattingOptions = layoutOf(text)
  for (const { path, value } of edits) text = applyEdits(text, modify(text, [...path], value, { formattingOptions }))
  await writePrivateFile(configPath(dataDir), text)
  return next
}

/** Edits that turn `current` into `next`; `written` is what the file says, without defaults. */
function differences(current: unknown, next: unknown, written: unknown, path: JsonPath): Edit[] {
  if (isDeepStrictEqual(current, next)) return []
  if (isRecord(current) && isRecord(next)) {
    const keys = new Set([...Object.keys(current), ...Object.keys(next)])
    return [...keys].flatMap((key) =>
      differences(current[key], next[key], isRecord(written) ? written[key] : undefined, [...path, key]),
    )
  }
  if (Array.isArray(current) && Array.isArray(next)) return [{ path, value: asWritten(current, next, written) }]
  return [{ path, value: next }]
}

/** The entries of a list that stay keep the form in which they were written. */
function asWritten(current: readonly unknown[], next: readonly unknown[], written: unknown): unknown[] {
  return next.map((entry) => {
    const index = current.findIndex((one) => isDeepStrictEqual(one, entry))
    return index >= 0 && Array.isArray(written) ? (written[index] as unknown) : entry
  })
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function layoutOf(text: string): { insertSpaces: boolean; tabSize: number; eol: string } {
  const indent = /\n([ \t]+)"/.exec(text)?.[1] ?? '  '
  return { insertSpaces: !indent.startsWith('\t'), tabSize: indent.length, eol: text.includes('\r\n') ? '\r\n' : '\n' }
}
