import { AnetError, errorView } from '@shared/errors.ts'
import { inert, inertJson } from './text.ts'

/** What the exit status says; printed with every --help. */
export const exitCodes = { ok: 0, failure: 1, usage: 2, notRunning: 3 } as const

export const exitCodesHelp = `
Exit status: 0 done; 1 it failed; 2 wrong usage, or something has to be set up first; 3 the node is not running.`

/** Errors that say: this cannot work as it was asked for, whatever the network does. */
const cannot: ReadonlySet<string> = new Set([
  'usage',
  'hub_url_invalid',
  'hub_needs_https',
  'invalid_input',
  'already_initialised',
  'not_initialised',
  'recovery_file_needed',
  'secret_store_not_chosen',
  'passphrase_needed',
  'config_invalid',
  'secret_store_unavailable',
  'passphrase_missing',
  'passphrase_too_short',
  'passphrase_too_long',
  'path_not_absolute',
])

export function exitCodeOf(error: unknown): number {
  if (!(error instanceof AnetError)) return exitCodes.failure
  if (error.code === 'node_not_running') return exitCodes.notRunning
  return cannot.has(error.code) ? exitCodes.usage : exitCodes.failure
}

export function usageError(message: string, remedy?: string): AnetError {
  return new AnetError('usage', message, remedy === undefined ? {} : { remedy })
}

/** Prints an error: as {error} on stdout for programs, as sentences on stderr for people. */
export function printError(error: unknown, json: boolean): void {
  const view = errorView(error)
  if (json) process.stdout.write(`${inertJson({ error: view }, 2)}\n`)
  else process.stderr.write(`${inert(view.message)}\n${view.remedy === undefined ? '' : `${inert(view.remedy)}\n`}`)
}
