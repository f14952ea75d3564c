/** Waiting times in milliseconds. Tests hand in small ones; nothing else about the network depends on time. */
export interface NetworkTiming {
  /** First and longest wait between attempts to reach the hub. */
  readonly retryFirst: number
  readonly retryMax: number
  /** Waits after each send until the peer's acknowledgement is asked for by sending again; the last one repeats. */
  readonly resendAfter: readonly number[]
  /** How long an acknowledgement or a request for missing messages waits for a message to travel with. */
  readonly acknowledgeAfter: number
  readonly admissionEvery: number
  readonly refreshEvery: number
  readonly maintainEvery: number
  readonly pingEvery: number
  /** How long the hub may take for an answer, without the time for large bodies. */
  readonly answerWithin: number
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute

export const defaultTiming: NetworkTiming = {
  retryFirst: 500,
  retryMax: 60 * second,
  resendAfter: [5 * second, minute, 10 * minute, hour, 6 * hour, 24 * hour],
  acknowledgeAfter: second,
  admissionEvery: minute,
  refreshEvery: 5 * minute,
  maintainEvery: hour,
  pingEvery: 30 * second,
  answerWithin: 15 * second,
}

/** Exponential with jitter: between half and the whole of `first * 2^attempt`, at most `max`. */
export function backoff(attempt: number, first: number, max: number): number {
  const whole = Math.min(max, first * 2 ** Math.min(attempt, 30))
  return Math.round(whole * (0.5 + Math.random() / 2))
}

/** The same spread around a fixed time, so that many nodes do not act at once. */
export function jittered(time: number): number {
  return Math.round(time * (0.9 + Math.random() / 5))
}
