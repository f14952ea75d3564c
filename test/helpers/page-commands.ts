import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
export const repository = resolve(import.meta.dirname, '../..')

/** A page of the repository, by its path from the root. */
export function page(path: string): string {
  return readFileSync(resolve(repository, path), 'utf8')
}

/** The fenced blocks of a page in one language, in their order, without their fences. */
export function codeBlocks(text: string, language: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, block = '']) => block,
  )
}

/** The paragraphs of prose of a page, each on one line. */
export function paragraphs(text: string): string[] {
  return text
    .replace(/^```[\s\S]*?^```$/gm, '')
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => /^\p{L}/u.test(paragraph))
    .map((paragraph) => paragraph.replace(/\s+/g, ' '))
}

export interface ReaderOptions {
  readonly env?: Readonly<Record<string, string>>
  /** What a page says to put in place of `<aid>` and the like, by what stands between the brackets. */
  readonly fill?: Readonly<Record<string, string>>
  readonly cwd?: string
}

/** Runs what a page prints as its reader would, in bash; fails when a command of it fails. Returns what it printed. */
export async function asReader(commands: string, { env = {}, fill = {}, cwd = repository }: ReaderOptions = {}) {
  const filled = Object.entries(fill).reduce((text, [name, value]) => text.replaceAll(`<${name}>`, value), commands)
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', filled], {
    cwd,
    env: { ...process.env, ...env },
    timeout: 60_000,
    maxBuffer: 16 * 1024 * 1024,
  })
  return stdout
}
