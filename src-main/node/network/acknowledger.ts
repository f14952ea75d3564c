import { encodeBody } from '@shared/wire/index.ts'
import type { Clock } from '../ports.ts'
import type { Store } from '../store/index.ts'
import type { NetworkTiming } from './backoff.ts'
import { type Channel, channelById } from './channels.ts'
import type { Courier } from './courier.ts'

const validFor = 24 * 60 * 60_000
/** Missing numbers named at once; the schema's bound. */
const maxMissing = 256
const longestRepeat = 5 * 60_000

interface Pending {
  /** The highest number that the peer may not know to be here. */
  received: number
  /** Wait until the next request while something is missing. */
  wait: number
  timer: NodeJS.Timeout | undefined
}

export interface AcknowledgerParts {
  readonly store: Store
  readonly courier: Courier
  readonly clock: Clock
  readonly timing: NetworkTiming
}

/**
 * Tells a peer what has arrived when no message to it is about to say so, and asks for what is missing, both as
 * `wanted`. Nothing of it is durable: a peer that was not told sends again, and is told then. An acknowledgement is
 * never acknowledged itself.
 */
export class Acknowledger {
  readonly #parts: AcknowledgerParts
  readonly #pending = new Map<number, Pending>()
  readonly #telling = new Set<Promise<void>>()
  #stopped = false

  constructor(parts: AcknowledgerParts) {
    this.#parts = parts
  }

  /** Something numbered arrived on this channel, for the first time or again. */
  received(channel: number): void {
    if (this.#stopped) return
    const { store, timing } = this.#parts
    const received = channelById(store.read, channel)?.received ?? -1
    const pending = this.#pending.get(channel)
    if (pending !== undefined) pending.received = received
    else this.#pending.set(channel, { received, wait: timing.acknowledgeAfter, timer: undefined })
    this.#arm(channel)
  }

  /** A message that carries this acknowledgement has left. */
  told(channel: number, ack: number): void {
    const pending = this.#pending.get(channel)
    if (pending === undefined || ack < pending.received || this.#missing(channel).length > 0) return
    clearTimeout(pending.timer)
    this.#pending.delete(channel)
  }

  /** The hub can be used again: what is pending goes out. */
  resume(): void {
    for (const channel of this.#pending.keys()) this.#arm(channel)
  }

  /** Resolves when nothing is being said any more. */
  async stop(): Promise<void> {
    this.#stopped = true
    for (const { timer } of this.#pending.values()) clearTimeout(timer)
    this.#pending.clear()
    await Promise.all(this.#telling)
  }

  #arm(channel: number): void {
    const pending = this.#pending.get(channel)
    if (pending === undefined || pending.timer !== undefined || !this.#parts.courier.ready) return
    pending.timer = setTimeout(() => {
      pending.timer = undefined
      const telling = this.#tell(channel, pending).finally(() => this.#telling.delete(telling))
      this.#telling.add(telling)
    }, pending.wait)
    pending.timer.unref()
  }

  async #tell(id: number, pending: Pending): Promise<void> {
    const { store, courier, clock } = this.#parts
    const channel = channelById(store.read, id)
    if (channel === undefined) return
    try {
      const missing = this.#missing(id)
      await courier.hand(await courier.seal(this.#message(channel, clock.now()), encodeBody('wanted', { missing })))
    } catch {
      // not worth a word: the peer sends again what it was not told about
    }
    if (this.#stopped) return
    this.told(id, channel.received)
    if (this.#pending.get(id) === pending) {
      pending.wait = Math.min(longestRepeat, pending.wait * 2)
      this.#arm(id)
    }
  }

  #message({ peer: to, task, requester, received: ack }: Channel, ts: number): Parameters<Courier['seal']>[0] {
    const mid = this.#parts.courier.newMid()
    return { to, type: 'wanted', task, requester, ack, mid, ts, exp: ts + validFor }
  }

  /** Numbers between the last one in order and the highest held that are not here. */
  #missing(channel: number): number[] {
    const { read } = this.#parts.store
    const held = read.all<{ n: number }>('SELECT n FROM net_held WHERE channel = ? ORDER BY n', channel)
    const missing: number[] = []
    let next = (channelById(read, channel)?.received ?? -1) + 1
    for (const { n } of held) {
      for (; next < n && missing.length < maxMissing; next += 1) missing.push(next)
      next = n + 1
    }
    return missing
  }
}
