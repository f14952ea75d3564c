import { AnetError } from '@shared/errors.ts'
import {
  encodeBase64Url,
  equalBytes,
  type Inner,
  isMessageType,
  type MessageType,
  parseBody,
  type Signed,
  unnumberedTypes,
} from '@shared/wire/index.ts'
import type { Identity, Peer, Peers } from '../identity/index.ts'
import type { Clock } from '../ports.ts'
import { inlineLimit, type FileRef, type Store, type Tx } from '../store/index.ts'
import { type Channel, channelOf, markReceived, openChannel, taskOf, unknownTask } from './channels.ts'
import type { HeldMessages } from './held.ts'
import type { Outbox } from './outbox.ts'
import { isPermanent, recordRejection } from './rejections.ts'
import type { Opened } from './sealing.ts'
import type { SeenMessages } from './seen.ts'
import type { Handler, Prepare, Received, TaskKey } from './types.ts'
import type { Witness } from './witness.ts'

/** Proven misbehaviour becomes evidence; what any stranger may send is recorded within bounds only. */
const misbehaviour: ReadonlySet<string> = new Set([
  'mid_reused',
  'number_reused',
  'message_old_key',
  'fork',
  'rollback',
])

/** What a message came to. Only `dropped` leaves no record: the sender keeps the message and sends it again. */
export type Outcome =
  | { readonly kind: 'applied' | 'held' | 'duplicate'; readonly channel: number | undefined }
  | { readonly kind: 'refused'; readonly channel: number | undefined; readonly code: string }
  | { readonly kind: 'dropped' }
  /** The message has to be written to a file, or prepared by its handler's owner, before it can be admitted. */
  | { readonly kind: 'needs_file' | 'needs_preparation' }

/** What was done before the transaction. */
export interface Readied {
  readonly file?: FileRef
  readonly prepared?: { readonly value: unknown }
  /** The handler refused the message in an earlier transaction, which was undone. */
  readonly refusal?: AnetError
}

/** Thrown out of the transaction when a handler refuses, so that nothing of what it did stays. */
export class HandlerRefusal extends Error {
  readonly reason: AnetError

  constructor(reason: AnetError) {
    super(reason.message)
    this.reason = reason
  }
}

export interface AdmissionParts {
  readonly store: Store
  readonly identity: Identity
  readonly peers: Peers
  readonly outbox: Outbox
  readonly held: HeldMessages
  readonly seen: SeenMessages
  readonly witness: Witness
  readonly clock: Clock
  readonly fault: (name: string) => void
  /** A peer wrote to this node. */
  readonly wrote: (tx: Tx, peer: Peer) => void
}

interface Registration {
  readonly handler: Handler<MessageType, unknown>
  readonly prepare: Prepare<MessageType, unknown> | undefined
}

/** Decides inside one transaction what becomes of an opened message (spec/network.md, Sealed delivery). */
export class Admission {
  readonly #parts: AdmissionParts
  readonly #handlers = new Map<string, Registration>()

  constructor(parts: AdmissionParts) {
    this.#parts = parts
  }

  register(type: MessageType, registration: Registration): void {
    if (this.#handlers.has(type)) throw new Error(`"${type}" has a handler already`)
    this.#handlers.set(type, registration)
  }

  admit(tx: Tx, opened: Opened, readied: Readied): Outcome {
    const { inner, digest } = opened
    try {
      const peer = this.#author(tx, opened)
      if (this.#parts.seen.forgotten(inner.exp)) throw refusal('message_expired', 'This message has expired.')
      const seen = this.#parts.seen.find(tx, inner.from, inner.mid, digest)
      if (seen === 'other_body') throw refusal('mid_reused', 'The same message id stands for two different bodies.')
      if (inner.type === 'identity' && inner.task === undefined) return this.#identity(tx, opened, peer, seen)
      const task = taskOf(inner)
      const channel = this.#channel(tx, inner, task)
      this.#parts.outbox.acknowledge(tx, channel, inner.ack ?? -1, this.#parts.clock.now())
      if (seen === 'same') return { kind: 'duplicate', channel: inner.n === undefined ? undefined : channel.id }
      if (inner.n === undefined) return this.#unnumbered(tx, opened, channel, peer, task)
      return this.#numbered(tx, opened, inner.n, { channel, peer, task }, readied)
    } catch (error) {
      if (!isPermanent(error)) throw error
      this.#reject(tx, inner, error)
      return { kind: 'refused', channel: undefined, code: error.code }
    }
  }

  /** Applies the held message that is next in order. It was admitted when it arrived. */
  applyHeld(tx: Tx, inner: Inner, signed: Signed, n: number, readied: Readied): Outcome {
    const task = taskOf(inner)
    const channel = channelOf(tx, task)
    const peer = this.#parts.peers.get(inner.from)
    if (channel?.received !== n - 1 || peer === undefined) return { kind: 'dropped' }
    const outcome = this.#apply(tx, { inner, signed }, n, { channel, peer, task }, readied)
    if (outcome.kind !== 'needs_preparation') this.#parts.held.remove(tx, channel.id, n)
    return outcome
  }

  /** A preview that came without being stored. Nothing of it is recorded, so that nothing has to be synced first. */
  admitPreview(tx: Tx, opened: Opened): void {
    const { inner } = opened
    if (inner.type !== 'task.preview') throw refusal('message_not_stored', 'Only previews come without being stored.')
    const peer = this.#author(tx, opened)
    const task = taskOf(inner)
    this.#channel(tx, inner, task)
    this.#handle(tx, { inner, peer, task }, undefined)
  }

  /** What an admitted preview acknowledges, in a transaction of its own. */
  acknowledgedByPreview(tx: Tx, inner: Inner): void {
    const channel = this.#channel(tx, inner, taskOf(inner))
    this.#parts.outbox.acknowledge(tx, channel, inner.ack ?? -1, this.#parts.clock.now())
  }

  async prepare(inner: Inner): Promise<unknown> {
    const { from } = inner
    const type = inner.type as MessageType
    return await this.#handlers
      .get(type)
      ?.prepare?.({ from, type, task: taskOf(inner), body: parseBody(type, inner.body), inner })
  }

  /**
   * Learns what the message says about its sender. Errors: those of peers.learn, `peer_forked`,
   * `message_deactivated_key`, `message_old_key`.
   */
  #author(tx: Tx, { inner, ksn, key }: Opened): Peer {
    const { peers, witness, clock } = this.#parts
    const now = clock.now()
    const news = { history: inner.history, keyset: inner.keyset }
    const peer = peers.learn(tx, inner.from, news, 'message', now)
    if (peer.forked) throw refusal('peer_forked', 'This agent has shown two key histories; its operator has to choose.')
    const { history } = peer
    if (history.key === null) throw refusal('message_deactivated_key', 'This agent ended its identity.')
    if (history.seq !== ksn || !equalBytes(history.key, key)) {
      throw refusal('message_old_key', 'This message is signed with a key that its owner has replaced.')
    }
    witness.check(tx, inner.from, inner.peerHead, now)
    this.#parts.wrote(tx, peer)
    return peer
  }

  #channel(tx: Tx, inner: Inner, task: TaskKey): Channel {
    if (isMessageType(inner.type) && unnumberedTypes.has(inner.type) !== (inner.n === undefined)) {
      const number = inner.n === undefined ? 'a number' : 'no number'
      throw refusal('message_bad_number', `A message of type "${inner.type}" has ${number}.`)
    }
    let channel = channelOf(tx, task)
    // a later message of the requester may overtake the one that opens the task
    if (channel === undefined && inner.n !== undefined && task.requester === inner.from) {
      channel = openChannel(tx, task, inner.from)
    }
    if (channel === undefined) throw unknownTask(task)
    if (channel.peer !== inner.from) throw refusal('message_wrong_peer', 'This task is with another agent.')
    if ((inner.type === 'task.open') !== (inner.n === 0 && task.requester === inner.from)) {
      throw refusal('message_out_of_place', 'A task begins with task.open, and only begins with it.')
    }
    return channel
  }

  #identity(tx: Tx, { inner, digest }: Opened, peer: Peer, seen: 'new' | 'same'): Outcome {
    if (seen === 'same') return { kind: 'duplicate', channel: undefined }
    this.#parts.seen.record(tx, inner.from, inner.mid, digest, inner.exp)
    if (this.#handlers.has('identity')) this.#handle(tx, { inner, peer, task: undefined }, undefined)
    return { kind: 'applied', channel: undefined }
  }

  #unnumbered(tx: Tx, { inner, digest }: Opened, channel: Channel, peer: Peer, task: TaskKey): Outcome {
    if (inner.type === 'wanted') {
      const { missing } = parseBody('wanted', inner.body)
      this.#parts.outbox.markWanted(tx, channel, missing, this.#parts.clock.now())
    } else {
      this.#handle(tx, { inner, peer, task }, undefined)
    }
    this.#parts.seen.record(tx, inner.from, inner.mid, digest, inner.exp)
    return { kind: 'applied', channel: undefined }
  }

  #numbered(tx: Tx, opened: Opened, n: number, where: Where, readied: Readied): Outcome {
    const { inner, signed, digest } = opened
    const { channel } = where
    const { held, seen, fault } = this.#parts
    if (n <= channel.received || held.has(tx, channel, n)) {
      throw refusal('number_reused', `Number ${n} of this task stands for two different messages.`)
    }
    if (n > channel.received + 1) {
      if (!held.fits(tx, channel, signed.v.byteLength)) return { kind: 'dropped' }
      if (held.needsFile(signed) && readied.file === undefined) return { kind: 'needs_file' }
      held.hold(tx, channel, n, inner.exp, signed, readied.file)
      seen.record(tx, inner.from, inner.mid, digest, inner.exp)
      fault('inbox.held')
      return { kind: 'held', channel: channel.id }
    }
    const outcome = this.#apply(tx, opened, n, where, readied)
    if (outcome.kind !== 'needs_preparation') seen.record(tx, inner.from, inner.mid, digest, inner.exp)
    return outcome
  }

  /** Applies the next message of a channel. One that is refused uses up its number all the same. */
  #apply(
    tx: Tx,
    { inner, signed }: Pick<Opened, 'inner' | 'signed'>,
    n: number,
    where: Where,
    readied: Readied,
  ): Outcome {
    const { channel } = where
    const refused = readied.refusal
    const large = signed.v.byteLength > inlineLimit
    const registration = this.#handlers.get(inner.type)
    if (refused === undefined && large && registration?.prepare !== undefined && readied.prepared === undefined) {
      return { kind: 'needs_preparation' }
    }
    markReceived(tx, channel, n)
    if (refused !== undefined) this.#reject(tx, inner, refused, where.task)
    else {
      try {
        this.#handle(tx, { inner, ...where }, readied.prepared?.value)
      } catch (error) {
        throw isPermanent(error) ? new HandlerRefusal(error) : error
      }
    }
    this.#parts.fault('inbox.applied')
    if (refused !== undefined) return { kind: 'refused', channel: channel.id, code: refused.code }
    return { kind: 'applied', channel: channel.id }
  }

  #handle(tx: Tx, message: { inner: Inner; peer: Peer; task: TaskKey | undefined }, prepared: unknown): void {
    const { inner, peer, task } = message
    const type = inner.type as MessageType
    const body = parseBody(type, inner.body)
    const registration = this.#handlers.get(type)
    if (registration === undefined) throw new Error(`nothing handles messages of type "${type}" yet`)
    const received: Received = { from: inner.from, type, task, body, inner, peer }
    registration.handler(tx, received, prepared)
  }

  #reject(tx: Tx, inner: Inner, error: AnetError, task?: TaskKey): void {
    const mid = encodeBase64Url(inner.mid)
    const { from, type } = inner
    recordRejection(tx, { at: this.#parts.clock.now(), code: error.code, peer: from, mid, detail: error.message })
    if (task === undefined && !misbehaviour.has(error.code)) return
    this.#parts.store.evidence.append(tx, 'message.refused', { code: error.code, peer: from, type, mid }, task)
  }
}

interface Where {
  readonly channel: Channel
  readonly peer: Peer
  readonly task: TaskKey
}

function refusal(code: string, message: string): AnetError {
  return new AnetError(code, message)
}
