import { limits } from '@shared/wire/index.ts'

const KiB = 1024
const MiB = 1024 * KiB

/** What a listener allows (spec/a2a-endpoint.md, Limits). Sizes in bytes, times in milliseconds. */
export interface ListenerLimits {
  readonly bodyBytes: number
  /** Lists, objects and commas in a body, and how deep they nest: what would stop everybody when it is parsed. */
  readonly bodyValues: number
  readonly bodyDepth: number
  readonly headerBytes: number
  /** A client that has not sent its header by then is answered with 408. */
  readonly headerTimeout: number
  /** Longest pause in the middle of a body. */
  readonly bodyStall: number
  /** Requests at once, streams included. */
  readonly requests: number
  readonly streams: number
  /** What is read of a body that was refused, so that the client can read the answer. */
  readonly drainBytes: number
  readonly drainTime: number
  /** Between two comment lines on a stream. */
  readonly heartbeat: number
  /** A client that lets more than this wait on its stream is cut off. */
  readonly unsentBytes: number
  readonly eventBytes: number
  /** How long a stream stays open after the token it was opened with was replaced. */
  readonly replacedTokenGrace: number
}

export const localLimits: ListenerLimits = {
  bodyBytes: 96 * MiB,
  bodyValues: limits.values,
  bodyDepth: 10_000,
  headerBytes: 16 * KiB,
  headerTimeout: 10_000,
  bodyStall: 30_000,
  requests: 1024,
  streams: 256,
  drainBytes: 1 * MiB,
  drainTime: 2000,
  heartbeat: 15_000,
  unsentBytes: 8 * MiB,
  eventBytes: 1 * MiB,
  replacedTokenGrace: 60_000,
}
