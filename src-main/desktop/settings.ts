import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { themes } from '@shared/contract/index.ts'
import { boundsSchema } from './window-bounds.ts'

const settingsSchema = z.object({
  theme: z.enum(themes).default('system'),
  bounds: boundsSchema.optional(),
  /** Whether the operator was told that closing the window leaves ANet running. */
  toldAboutHiding: z.boolean().default(false),
})
export type DesktopSettings = z.infer<typeof settingsSchema>

export interface SettingsFile {
  readonly current: DesktopSettings
  change(change: Partial<DesktopSettings>): void
}

/** What the shell remembers about itself, beside the node's data. Nothing in it matters: damage means defaults. */
export function openSettings(directory: string): SettingsFile {
  const file = join(directory, 'window.json')
  let current = read(file)
  return {
    get current() {
      return current
    },
    change: (change) => {
      current = { ...current, ...change }
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
      const fresh = `${file}.new`
      writeFileSync(fresh, `${JSON.stringify(current, null, 2)}\n`, { mode: 0o600 })
      renameSync(fresh, file)
    },
  }
}

function read(file: string): DesktopSettings {
  try {
    return settingsSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return settingsSchema.parse({})
  }
}
