import { isAnetError } from '@shared/errors.ts'
import type { Clock, Log } from '../ports.ts'
import type { Store } from '../store/index.ts'
import { backoff, type NetworkTiming } from './backoff.ts'
import { type Channel, channelById } from './channels.ts'
import type { Courier } from './courier.ts'
import type { Outbox, OutboxRow } from './outbox.ts'

/** Longest timer of Node; a due time further away is looked at again then. */
const longestTimer = 2 ** 31 - 1
/** Below what a hub takes from one sender at a time, so that previews and acknowledgements find room. */
const parallelChannels = 8
const largeBody = 4 * 1024 * 1024
const peerRetryFirst = 2000
const peerRetryMax = 10 * 60_000

/** Codes that say something about the hub or this node's standing there, not about one recipient. */
const hubTroubles = ['hub_unreachable', 'rate_limited', 'not_member', 'removed', 'waiting_for_admission']
const hubRefusals = ['bad_signature', 'stale_request', 'replayed_request']

export interface DispatcherParts {
  readonly store: Store
  readonly outbox: Outbox
  readonly courier: Courier
  readonly clock: Clock
  readonly log: Log
  readonly timing: NetworkTiming
  readonly fault: (name: string) => void
  /** A message with this acknowledgement has left. */
  readonly told: (channel: number, ack: number) => void
  /** The hub refuses this node itself. */
  readonly trouble: (error: unknown) => void
}

/**
 * Sends what is in the outbox: at once after the commit, in order within a task, tasks beside each other; again when
 * the peer has not acknowledged it. While the hub cannot be used, nothing is tried and nothing is logged.
 */
export class Dispatcher {
  readonly #parts: DispatcherParts
  /** Channels being sent; true: look again from the beginning. */
  readonly #lanes = new Map<number, boolean>()
  readonly #queued = new Set<number>()
  readonly #running = new Set<Promise<void>>()
  #largeTurn: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #timerAt = Number.POSITIVE_INFINITY
  #pausedUntil = 0
  #hubFailures = 0
  #stopped = true

  constructor(parts: DispatcherParts) {
    this.#parts = parts
    parts.outbox.onDue((channel) => this.wake(channel))
  }

  /** The hub can be used: sends everything that is due. */
  resume(): void {
    this.#stopped = false
    this.#pausedUntil = 0
    this.#hubFailures = 0
    this.#wakeDue()
  }

  /** Stops sending and resolves when nothing is under way any more. */
  async pause(): Promise<void> {
    this.#stopped = true
    this.#queued.clear()
    this.#setTimer(undefined)
    await Promise.all(this.#running)
  }

  wake(channel: number): void {
    if (this.#stopped || this.#parts.clock.now() < this.#pausedUntil) return
    if (this.#lanes.has(channel)) this.#lanes.set(channel, true)
    else if (this.#lanes.size >= parallelChannels) this.#queued.add(channel)
    else this.#start(channel)
  }

  #start(channel: number): void {
    this.#lanes.set(channel, false)
    const lane = this.#runLane(channel)
      .catch((error: unknown) => this.#parts.log.error({ err: error }, 'sending stopped unexpectedly'))
      .finally(() => {
        this.#running.delete(lane)
        const again = this.#lanes.get(channel) === true
        this.#lanes.delete(channel)
        if (again) this.#queued.add(channel)
        const next = this.#queued.values().next().value
        if (next !== undefined) {
          this.#queued.delete(next)
          this.wake(next)
        }
        this.#plan()
      })
    this.#running.add(lane)
  }

  async #runLane(id: number): Promise<void> {
    const { outbox, clock, store } = this.#parts
    const recording: Promise<unknown>[] = []
    let after = -1
    try {
      while (!this.#stopped && clock.now() >= this.#pausedUntil) {
        const now = clock.now()
        const row = outbox.next(id, after, now)
        const channel = row === undefined ? undefined : channelById(store.read, id)
        if (row === undefined || channel === undefined) return
        // an earlier message that cannot be sent yet holds up the later ones
        if (row.due > now) return
        after = row.n
        if (row.exp <= now) await this.#dropExpired(now)
        else if (!outbox.worthSending(row, channel)) recording.push(outbox.postpone(row, now))
        else if (!(await this.#sendRow(row, channel, recording))) return
      }
    } finally {
      await Promise.all(recording)
    }
  }

  async #dropExpired(now: number): Promise<void> {
    const dropped = await this.#parts.outbox.dropExpired(now)
    if (dropped > 0) this.#parts.log.warn({ messages: dropped }, 'messages expired without an acknowledgement')
  }

  /** False if the lane has to stop. What was sent is recorded while the next one is on its way. */
  async #sendRow(row: OutboxRow, channel: Channel, recording: Promise<unknown>[]): Promise<boolean> {
    const { outbox, clock, fault, told } = this.#parts
    try {
      const ack = await this.#deliver(row, channel)
      fault('outbox.sent')
      this.#hubFailures = 0
      told(channel.id, ack)
      recording.push(outbox.recordSent(row, clock.now()).then(() => fault('outbox.recorded')))
      return true
    } catch (error) {
      // while a large message waited for its turn, the peer acknowledged it: nothing is left to send
      if (isAnetError(error, 'content_gone')) return true
      await this.#failed(row, channel, error)
      return false
    }
  }

  async #deliver(row: OutboxRow, channel: Channel): Promise<number> {
    const { outbox, courier, store, fault } = this.#parts
    const release = row.file === null ? undefined : await this.#turn()
    try {
      const body = await outbox.bodyOf(row)
      const ack = channelById(store.read, channel.id)?.received ?? -1
      const { type, n, mid, ts, exp } = row
      const { peer: to, task, requester } = channel
      const envelope = await courier.seal({ to, type, task, requester, n, ack, mid, ts, exp }, body)
      if (envelope.byteLength <= largeBody) release?.()
      fault('outbox.sealed')
      await courier.hand(envelope)
      return ack
    } finally {
      release?.()
    }
  }

  /** Large messages are sealed and sent one after the other: each is in memory several times. */
  async #turn(): Promise<() => void> {
    const before = this.#largeTurn
    let release: () => void = () => {}
    this.#largeTurn = new Promise((resolve) => {
      release = resolve
    })
    await before
    return release
  }

  async #failed(row: OutboxRow, channel: Channel, error: unknown): Promise<void> {
    const { outbox, clock, log, timing, trouble } = this.#parts
    if (isAnetError(error, ...hubTroubles, ...hubRefusals)) {
      const asked = error.details?.['retryAfter']
      const wait = typeof asked === 'number' ? asked : backoff(this.#hubFailures, timing.retryFirst, timing.retryMax)
      this.#hubFailures += 1
      this.#pausedUntil = clock.now() + wait
      if (!isAnetError(error, 'rate_limited')) trouble(error)
      return
    }
    const code = isAnetError(error) ? error.code : 'internal'
    const wait = backoff(row.failures, Math.min(peerRetryFirst, timing.retryFirst * 4), peerRetryMax)
    if (row.failures === 0) {
      log.warn(
        { code, peer: channel.peer, type: row.type, ...(isAnetError(error) ? {} : { err: error }) },
        'a message cannot be sent yet',
      )
    }
    await outbox.recordFailure(row, clock.now() + wait)
  }

  #wakeDue(): void {
    for (const channel of this.#parts.outbox.channelsDue(this.#parts.clock.now())) this.wake(channel)
    this.#plan()
  }

  /** One timer for the next time ahead; what is due already has been woken. */
  #plan(): void {
    if (this.#stopped) return
    const now = this.#parts.clock.now()
    this.#setTimer(now < this.#pausedUntil ? this.#pausedUntil : this.#parts.outbox.nextDue(now))
  }

  #setTimer(at: number | undefined): void {
    if (this.#timer !== undefined && at === this.#timerAt) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#timerAt = at ?? Number.POSITIVE_INFINITY
    if (at === undefined) return
    const wait = Math.min(longestTimer, Math.max(1, at - this.#parts.clock.now()))
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#wakeDue()
    }, wait)
    this.#timer.unref()
  }
}
