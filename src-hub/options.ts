import { limits as wireLimits } from '@shared/wire/index.ts'

/** What the hub needs of its surroundings; tests hand in what they steer. */
export interface HubClock {
  /** Milliseconds since 1970. */
  now(): number
}

/** The part of a pino logger that the hub uses. */
export interface HubLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void
  warn(fields: Readonly<Record<string, unknown>>, message: string): void
  error(fields: Readonly<Record<string, unknown>>, message: string): void
}

export const silentLog: HubLog = { info: () => {}, warn: () => {}, error: () => {} }

/**
 * `open`: whoever can prove an AID joins. `invite`: with a single-use invite. `admit`: the operator admits each agent.
 */
export type HubPolicy = 'open' | 'invite' | 'admit'

/** Names of the durable steps at which a test may end the process. */
export const hubFaultPoints = [
  'hub.identity.saved',
  'hub.join.committed',
  'hub.publish.committed',
  'hub.blob.synced',
  'hub.mail.inserted',
  'hub.mail.committed',
  'hub.ack.committed',
] as const

/** Sizes in bytes, times in milliseconds, rates per second. Defaults from src-shared/wire/limits.ts. */
export interface HubLimits {
  readonly envelopeBytes: number
  /** Envelopes up to this size lie in rows, larger ones in files. */
  readonly inlineBytes: number
  readonly ephemeralBytes: number
  readonly mailboxMessages: number
  readonly mailboxBytes: number
  /** Part of a box that one sender may hold, 0 to 1. */
  readonly senderShare: number
  readonly keepFor: number
  /** Sends of one agent. */
  readonly ratePerSecond: number
  readonly rateBurst: number
  /** Every other signed request of one agent. */
  readonly requestsPerSecond: number
  readonly requestBurst: number
  /** Requests without a known agent (info, join), by remote address. */
  readonly addressPerSecond: number
  readonly addressBurst: number
  readonly members: number
  readonly waiting: number
  /** Deliveries on their way to one session, not yet acknowledged. */
  readonly windowMessages: number
  readonly windowBytes: number
  /** A delivery that is not acknowledged for this long no longer holds up those behind it. */
  readonly leftAfter: number
  /** Requests of one agent whose bodies are being received at the same time. */
  readonly concurrentBodies: number
  /** A body must bring its next piece within this time, and all of it within this time plus 1 s per 16 KiB. */
  readonly bodyIdle: number
  readonly sweepEvery: number
  readonly heartbeatEvery: number
}

const seconds = 1000

export const defaultHubLimits: HubLimits = {
  envelopeBytes: wireLimits.message.envelopeBytes,
  inlineBytes: 256 * 1024,
  ephemeralBytes: wireLimits.previewBytes + 64 * 1024,
  mailboxMessages: wireLimits.mailbox.messages,
  mailboxBytes: wireLimits.mailbox.bytes,
  senderShare: wireLimits.mailbox.senderShare,
  keepFor: wireLimits.mailbox.keepFor,
  ratePerSecond: wireLimits.rate.perSecond,
  rateBurst: wireLimits.rate.burst,
  requestsPerSecond: 50,
  requestBurst: 1000,
  addressPerSecond: 50,
  addressBurst: 1000,
  members: 1_000_000,
  waiting: 10_000,
  windowMessages: 256,
  windowBytes: 8 * 1024 * 1024,
  leftAfter: 30 * seconds,
  concurrentBodies: 16,
  bodyIdle: 30 * seconds,
  sweepEvery: 60 * seconds,
  heartbeatEvery: 30 * seconds,
}

export interface HubOptions {
  readonly dataDir: string
  /** Default 127.0.0.1. Put a TLS proxy before any other address. */
  readonly host?: string
  /** 0: any free port. */
  readonly port: number
  /** Port of the admin listener, always on 127.0.0.1. Default: any free port. */
  readonly adminPort?: number
  readonly name?: string
  readonly policy: HubPolicy
  readonly limits?: Partial<HubLimits>
  readonly clock?: HubClock
  readonly log?: HubLog
  /** Called at each durable step, see {@link hubFaultPoints}. */
  readonly fault?: (point: string) => void
}
