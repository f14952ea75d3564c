import type { Desk } from './desk.ts'

/** A ratio decides; `least` for rates, where more is better, `most` for times. */
export type Goal = { readonly least: number } | { readonly most: number }

/** Two values of one run on one machine, medians of interleaved rounds. */
export interface Measured {
  readonly measured: number
  readonly against: number
  readonly unit: '/s' | 'ms'
}

export interface Row {
  /** What the row is called on the command line. */
  readonly name: string
  readonly what: string
  readonly against: string
  readonly goal: Goal
  measure(desk: Desk): Promise<Measured>
}

export interface Result {
  readonly name: string
  readonly what: string
  readonly against: string
  readonly goal: Goal
  /** Undefined if the row could not be measured. */
  readonly values: Measured | undefined
  readonly ratio: number | undefined
  readonly outcome: 'met' | 'missed' | 'not measured'
  readonly error: string | undefined
}

export function resultOf(row: Row, outcome: Measured | Error): Result {
  const { name, what, against, goal } = row
  const common = { name, what, against, goal }
  if (outcome instanceof Error) {
    return { ...common, values: undefined, ratio: undefined, outcome: 'not measured', error: outcome.message }
  }
  const ratio = outcome.measured / outcome.against
  if (!Number.isFinite(ratio)) return resultOf(row, new Error('a value is missing'))
  const met = 'least' in goal ? ratio >= goal.least : ratio <= goal.most
  return { ...common, values: outcome, ratio, outcome: met ? 'met' : 'missed', error: undefined }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]]
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2
}
