/** All times of the forwarder, in milliseconds. Tests shorten them; the operator sets the last two of the retry. */
export interface Timing {
  /** A turn without an answer is announced as working after this. */
  readonly workingAfterMs: number
  readonly firstRetryMs: number
  /** `retry.max_interval` */
  readonly maxRetryMs: number
  /** `retry.give_up_after`; 0 tries once. */
  readonly giveUpAfterMs: number
  /** First and longest wait before the backend is asked again what came of a task that it has. */
  readonly followMs: number
  readonly followMaxMs: number
  /** Failures in a row after which it is not asked again. */
  readonly followFailures: number
  /** How long a cancel may take at the backend before the task is canceled without its word. */
  readonly cancelMs: number
}

export const defaultTiming: Omit<Timing, 'maxRetryMs' | 'giveUpAfterMs'> = {
  workingAfterMs: 60_000,
  firstRetryMs: 5_000,
  followMs: 1_000,
  followMaxMs: 10_000,
  followFailures: 4,
  cancelMs: 10_000,
}
