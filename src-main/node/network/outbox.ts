import {
  type Aid,
  encodeBase64Url,
  limits,
  type MessageType,
  unnumberedTypes,
  type WireCrypto,
} from '@shared/wire/index.ts'
import type { Clock } from '../ports.ts'
import type { FileRef, Place, Store, Tx } from '../store/index.ts'
import { jittered, type NetworkTiming } from './backoff.ts'
import { encodedBody } from './body.ts'
import { type Channel, channelById, channelOf, takeNumber, unknownTask } from './channels.ts'
import type { Network, PreparedBody, TaskKey } from './types.ts'

/** One message that the peer has not acknowledged yet. */
export interface OutboxRow {
  readonly id: number
  readonly channel: number
  readonly n: number
  readonly type: MessageType
  readonly mid: Uint8Array
  readonly ts: number
  readonly exp: number
  readonly body: Uint8Array
  /** Name of the sealed file that holds a large body; `body` is then its sealed reference. */
  readonly file: string | null
  readonly sends: number
  readonly failures: number
  /** 1 if the peer said that it misses this message. */
  readonly asked: number
  readonly sentAt: number
  readonly due: number
}

const columns = `id, channel, n, type, mid, ts, exp, body, file, sends, failures, asked, sent_at AS sentAt, due`

/**
 * What waits to reach its peer: durable, numbered when it is put in, with the same mid, times and body in every send.
 * A row goes when the peer has acknowledged it or it has expired. When it is sent is the dispatcher's business.
 */
export class Outbox {
  readonly #store: Store
  readonly #crypto: WireCrypto
  readonly #clock: Clock
  readonly #timing: NetworkTiming
  #wake: (channel: number) => void = () => {}
  #progress: Parameters<Network['onProgress']>[0] = () => {}

  constructor(parts: { store: Store; crypto: WireCrypto; clock: Clock; timing: NetworkTiming }) {
    this.#store = parts.store
    this.#crypto = parts.crypto
    this.#clock = parts.clock
    this.#timing = parts.timing
  }

  /** Called with a channel's id after a commit that made something of it due. */
  onDue(wake: (channel: number) => void): void {
    this.#wake = wake
  }

  onProgress(listener: Parameters<Network['onProgress']>[0]): void {
    this.#progress = listener
  }

  enqueue<T extends MessageType>(tx: Tx, message: { to: Aid; type: T; task: TaskKey; body: PreparedBody<T> }): void {
    if (unnumberedTypes.has(message.type)) throw new Error(`"${message.type}" has no number and no place in the outbox`)
    const channel = channelOf(tx, message.task)
    if (channel?.peer !== message.to) throw unknownTask(message.task)
    const now = this.#clock.now()
    const mid = this.#crypto.randomBytes(limits.message.midBytes)
    const { content } = encodedBody(message.body)
    const place = placeOf(mid)
    const inFile = 'file' in content
    if (inFile) this.#store.content.keepFile(tx, content.file)
    const held = tx.get<{ due: number | null }>(
      'SELECT max(due) AS due FROM net_outbox WHERE channel = ? AND sends = 0',
      channel.id,
    )
    tx.run(
      'INSERT INTO net_outbox (channel, n, type, mid, ts, exp, body, file, due) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
      channel.id,
      takeNumber(tx, channel),
      message.type,
      mid,
      now,
      now + limits.message.validFor,
      inFile ? this.#store.content.sealJson(place, content.file) : this.#store.content.seal(place, content.inline),
      inFile ? content.file.name : null,
      Math.max(now, held?.due ?? 0),
    )
    tx.afterCommit(() => this.#wake(channel.id))
  }

  /** The next row of a channel to look at: unsent ones keep their order, sent ones come when they are due. */
  next(channel: number, after: number, now: number): OutboxRow | undefined {
    return this.#store.read.get<OutboxRow>(
      `SELECT ${columns} FROM net_outbox WHERE channel = ? AND n > ? AND (sends = 0 OR due <= ?) ORDER BY n LIMIT 1`,
      channel,
      after,
      now,
    )
  }

  /** True if sending again may help: the peer asked, or it is the oldest one, or the peer has moved on since. */
  worthSending(row: OutboxRow, channel: Channel): boolean {
    return row.sends === 0 || row.asked === 1 || row.n === channel.acked + 1 || channel.ackedAt > row.sentAt
  }

  /** Encoded body (encodeBody) of a row. */
  async bodyOf(row: OutboxRow): Promise<Uint8Array> {
    const { content } = this.#store
    const place = placeOf(row.mid)
    if (row.file === null) return content.open(place, row.body)
    return await content.getFile(content.openJson<FileRef>(place, row.body))
  }

  /** The hub has it. It is sent again unless the peer acknowledges it, and if this is lost: the peer knows its mid. */
  async recordSent(row: OutboxRow, at: number): Promise<void> {
    await this.#store.write(
      (tx) => {
        tx.run(
          'UPDATE net_outbox SET sends = sends + 1, failures = 0, asked = 0, sent_at = ?, due = ? WHERE id = ?',
          at,
          at + this.#resendAfter(row.sends),
          row.id,
        )
        const channel = row.n === 0 && row.sends === 0 ? channelById(tx, row.channel) : undefined
        if (channel !== undefined) this.#progress(tx, { task: taskOfChannel(channel), kind: 'sent' })
      },
      { mayWait: true },
    )
  }

  /** The whole channel waits: a later message would only arrive before its turn. */
  async recordFailure(row: OutboxRow, due: number): Promise<void> {
    await this.#store.write((tx) => {
      tx.run('UPDATE net_outbox SET failures = failures + 1 WHERE id = ?', row.id)
      tx.run('UPDATE net_outbox SET due = ? WHERE channel = ? AND due < ?', due, row.channel, due)
    })
  }

  async postpone(row: OutboxRow, now: number): Promise<void> {
    await this.#store.write((tx) =>
      tx.run('UPDATE net_outbox SET due = ? WHERE id = ?', now + this.#resendAfter(row.sends), row.id),
    )
  }

  #resendAfter(sends: number): number {
    const waits = this.#timing.resendAfter
    return jittered(waits[Math.min(sends, waits.length - 1)] ?? 0)
  }

  /**
   * The peer has everything up to `ack`. A number that was never given means nothing more than the last one that was.
   * What is still open and not just under way goes out again at once: the peer is there and does not have it.
   */
  acknowledge(tx: Tx, channel: Channel, ack: number, now: number): void {
    const upTo = Math.min(ack, channel.nextN - 1)
    if (upTo <= channel.acked) return
    this.#delete(tx, 'channel = ? AND n <= ?', channel.id, upTo)
    tx.run('UPDATE net_channels SET acked = ?, acked_at = ? WHERE id = ?', upTo, now, channel.id)
    tx.run(
      'UPDATE net_outbox SET due = ? WHERE channel = ? AND sends > 0 AND sent_at < ? AND due > ?',
      now,
      channel.id,
      now - (this.#timing.resendAfter[0] ?? 0),
      now,
    )
    if (channel.acked < 0) this.#progress(tx, { task: taskOfChannel(channel), kind: 'delivered' })
    tx.afterCommit(() => this.#wake(channel.id))
  }

  /** The peer misses these numbers of ours. */
  markWanted(tx: Tx, channel: Channel, missing: readonly number[], now: number): void {
    for (const n of missing) {
      tx.run('UPDATE net_outbox SET asked = 1, due = ? WHERE channel = ? AND n = ? AND sends > 0', now, channel.id, n)
    }
    tx.afterCommit(() => this.#wake(channel.id))
  }

  /** Drops what has expired without an acknowledgement and says how much that was. */
  async dropExpired(now: number): Promise<number> {
    return await this.#store.write((tx) => this.#delete(tx, 'exp <= ?', now))
  }

  channelsDue(now: number): number[] {
    return this.#store.read
      .all<{ channel: number }>('SELECT DISTINCT channel FROM net_outbox WHERE due <= ?', now)
      .map(({ channel }) => channel)
  }

  /** The next due time after `now`. */
  nextDue(now: number): number | undefined {
    const row = this.#store.read.get<{ due: number | null }>(
      'SELECT min(due) AS due FROM net_outbox WHERE due > ?',
      now,
    )
    return row?.due ?? undefined
  }

  unconfirmed(task: TaskKey): { count: number; oldest: number | undefined } {
    const row = this.#store.read.get<{ count: number; oldest: number | null }>(
      `SELECT count(*) AS count, min(ts) AS oldest FROM net_outbox
       WHERE channel = (SELECT id FROM net_channels WHERE requester = ? AND task = ?)`,
      task.requester,
      task.id,
    )
    return { count: row?.count ?? 0, oldest: row?.oldest ?? undefined }
  }

  state(): { waiting: number; oldest: number | undefined } {
    const row = this.#store.read.get<{ waiting: number; oldest: number | null }>(
      'SELECT count(*) AS waiting, min(ts) AS oldest FROM net_outbox WHERE sends = 0',
    )
    return { waiting: row?.waiting ?? 0, oldest: row?.oldest ?? undefined }
  }

  #delete(tx: Tx, where: string, ...values: number[]): number {
    const files = tx.all<{ file: string }>(`SELECT file FROM net_outbox WHERE ${where} AND file IS NOT NULL`, ...values)
    for (const { file } of files) this.#store.content.forgetFile(tx, file)
    return tx.run(`DELETE FROM net_outbox WHERE ${where}`, ...values).changes
  }
}

function placeOf(mid: Uint8Array): Place {
  return { table: 'net_outbox', id: encodeBase64Url(mid), column: 'body' }
}

function taskOfChannel({ requester, task }: Channel): TaskKey {
  return { requester, id: task }
}
