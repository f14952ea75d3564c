import { isAnetError } from '@shared/errors.ts'
import { decodeSigned, encodeSigned, limits, type Signed } from '@shared/wire/index.ts'
import { inlineLimit, type FileRef, type Place, type Store, type Tx } from '../store/index.ts'
import type { Channel } from './channels.ts'

/** Bounds of what one peer may have waiting for an earlier number. Beyond them its messages come again later. */
const maxPerChannel = 256
const maxBytesPerPeer = 2 * limits.message.bytes

interface HeldRow {
  readonly n: number
  readonly message: Uint8Array
  readonly file: string | null
}

/** Verified messages that arrived before their turn. They were deleted at the hub: this is where they live now. */
export class HeldMessages {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  has(tx: Tx, channel: Channel, n: number): boolean {
    return tx.get('SELECT 1 FROM net_held WHERE channel = ? AND n = ?', channel.id, n) !== undefined
  }

  fits(tx: Tx, channel: Channel, size: number): boolean {
    const { messages } = tx.get<{ messages: number }>(
      'SELECT count(*) AS messages FROM net_held WHERE channel = ?',
      channel.id,
    ) ?? { messages: 0 }
    const { bytes } = tx.get<{ bytes: number | null }>(
      'SELECT sum(size) AS bytes FROM net_held WHERE channel IN (SELECT id FROM net_channels WHERE peer = ?)',
      channel.peer,
    ) ?? { bytes: 0 }
    return messages < maxPerChannel && (bytes ?? 0) + size <= maxBytesPerPeer
  }

  /** True if a message is too large for a row: then {@link write} goes before the transaction. */
  needsFile(signed: Signed): boolean {
    return signed.v.byteLength > inlineLimit - 1024
  }

  async write(signed: Signed): Promise<FileRef> {
    return await this.#store.content.putFile(encodeSigned(signed))
  }

  hold(tx: Tx, channel: Channel, n: number, exp: number, signed: Signed, file: FileRef | undefined): void {
    const place = placeOf(channel.id, n)
    const { content } = this.#store
    if (file !== undefined) content.keepFile(tx, file)
    tx.run(
      'INSERT INTO net_held (channel, n, size, exp, message, file) VALUES (?, ?, ?, ?, ?, ?)',
      channel.id,
      n,
      signed.v.byteLength,
      exp,
      file === undefined ? content.seal(place, encodeSigned(signed)) : content.sealJson(place, file),
      file?.name ?? null,
    )
  }

  /** The held message that is next in order, if it is here. */
  async next(channel: number): Promise<{ n: number; signed: Signed } | undefined> {
    const row = this.#store.read.get<HeldRow>(
      `SELECT n, message, file FROM net_held
       WHERE channel = ? AND n = (SELECT received + 1 FROM net_channels WHERE id = ?)`,
      channel,
      channel,
    )
    if (row === undefined) return undefined
    const { content } = this.#store
    const place = placeOf(channel, row.n)
    let bytes: Uint8Array
    try {
      bytes =
        row.file === null
          ? content.open(place, row.message)
          : await content.getFile(content.openJson<FileRef>(place, row.message))
    } catch (error) {
      // it expired and was removed meanwhile
      if (isAnetError(error, 'content_gone')) return undefined
      throw error
    }
    return { n: row.n, signed: decodeSigned(bytes, 'message', limits.message.bytes) }
  }

  remove(tx: Tx, channel: number, n: number): void {
    this.#removeWhere(tx, 'channel = ? AND n = ?', channel, n)
  }

  async prune(now: number): Promise<void> {
    await this.#store.write((tx) => this.#removeWhere(tx, 'exp <= ?', now))
  }

  /** Channels whose next message is here already: after a restart. */
  ready(): number[] {
    return this.#store.read
      .all<{ channel: number }>(
        `SELECT h.channel AS channel FROM net_held h JOIN net_channels c ON c.id = h.channel AND h.n = c.received + 1`,
      )
      .map(({ channel }) => channel)
  }

  /** Channels with gaps. */
  waiting(): number[] {
    return this.#store.read
      .all<{ channel: number }>('SELECT DISTINCT channel FROM net_held')
      .map(({ channel }) => channel)
  }

  #removeWhere(tx: Tx, where: string, ...values: number[]): void {
    const files = tx.all<{ file: string }>(`SELECT file FROM net_held WHERE ${where} AND file IS NOT NULL`, ...values)
    for (const { file } of files) this.#store.content.forgetFile(tx, file)
    tx.run(`DELETE FROM net_held WHERE ${where}`, ...values)
  }
}

function placeOf(channel: number, n: number): Place {
  return { table: 'net_held', id: `${channel}:${n}`, column: 'message' }
}
