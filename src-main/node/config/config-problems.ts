import type { z } from 'zod'
import { suggestKey } from '@shared/config/index.ts'
import { AnetError } from '@shared/errors.ts'
import type { ConfigText, JsonPath } from './config-text.ts'

interface Problem {
  readonly key: string
  readonly line: number | undefined
  readonly message: string
  readonly remedy: string
}

/**
 * `config_invalid` for what the schema refuses. The message tells of the first problem, `details.problems` of all:
 * key, line, what is wrong, what to do. Without `source` (a change that was never written) there are no lines.
 */
export function configInvalid(
  path: string,
  issues: readonly z.core.$ZodIssue[],
  value: unknown,
  source?: ConfigText,
): AnetError {
  const problems = issues
    .flatMap((issue) => problemsOf(issue, value, source))
    .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0))
  const [first] = problems
  const where = first?.line === undefined ? path : `${path}, line ${first.line}`
  const more = problems.length > 1 ? ` ${problems.length - 1} more of the kind: anet doctor lists them.` : ''
  return new AnetError('config_invalid', `${where}: ${first?.message ?? 'not a configuration.'}${more}`, {
    remedy: `${first?.remedy ?? 'Correct it.'} Nothing was overwritten.`,
    details: { path, line: first?.line ?? null, key: first?.key ?? null, problems },
  })
}

function problemsOf(issue: z.core.$ZodIssue, value: unknown, source: ConfigText | undefined): Problem[] {
  const path = issue.path.filter((step) => typeof step !== 'symbol')
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(path, key, source))
  const key = nameOf(path)
  const found = valueAt(value, path)
  const seen = found === undefined ? 'It is missing' : `It is ${shown(found)}`
  return [
    {
      key,
      line: source?.lineOf(path),
      message: `${key === '' ? 'the configuration' : `"${key}"`}: ${asSentence(issue.message)} ${seen}.`,
      remedy: found === undefined ? 'Add it.' : 'Change it, or remove it to have the default.',
    },
  ]
}

function unknownKey(parent: JsonPath, key: string, source: ConfigText | undefined): Problem {
  const meant = suggestKey(parent, key)
  const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`
  return {
    key: nameOf([...parent, key]),
    line: source?.lineOf([...parent, key]),
    message: `"${nameOf([...parent, key])}" is not a key that ANet knows.${hint}`,
    remedy: meant === undefined ? 'Remove it.' : `Write it as "${meant}", or remove it.`,
  }
}

/** `modules.a2a.backends[0].url`. */
function nameOf(path: JsonPath): string {
  return path.map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`)).join('')
}

function valueAt(value: unknown, path: JsonPath): unknown {
  let here = value
  for (const step of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return undefined
    here = (here as Record<string | number, unknown>)[step]
  }
  return here
}

function shown(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

function asSentence(message: string): string {
  const text = message.replace(/^Invalid (input|option|string|url|URL): ?/i, '').trim()
  return /[.!?]$/.test(text) ? text : `${text}.`
}
