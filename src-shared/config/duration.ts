import { AnetError } from '../errors.ts'

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}
export const durationPattern = /^(0|(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+)$/

/** A Go duration ("2m", "1h30m", "0") in milliseconds. Error: `invalid_duration`. */
export function parseDuration(text: string): number {
  if (!durationPattern.test(text)) {
    throw new AnetError('invalid_duration', `"${text}" is not a duration.`, {
      remedy: 'Write it as "90s", "2m", "1h30m" or "0".',
    })
  }
  let total = 0
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)) {
    total += Number(amount) * (unitMs[unit ?? ''] ?? 0)
  }
  return total
}
