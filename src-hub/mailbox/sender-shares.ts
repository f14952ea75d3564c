import type { Aid } from '@shared/wire/index.ts'
import { HubError } from '../errors.ts'

interface Share {
  messages: number
  bytes: number
}

interface Held {
  readonly to: Aid
  readonly from: Aid
  readonly size: number
}

/**
 * How much of each box each sender holds. Kept in memory only, for the messages that this process took in: who wrote
 * to whom is not stored. Errors: `mailbox_full`.
 */
export class SenderShares {
  readonly #maxMessages: number
  readonly #maxBytes: number
  readonly #boxes = new Map<Aid, Map<Aid, Share>>()
  readonly #mails = new Map<number, Held>()

  constructor(limits: { mailboxMessages: number; mailboxBytes: number; senderShare: number }) {
    this.#maxMessages = Math.max(1, Math.floor(limits.mailboxMessages * limits.senderShare))
    this.#maxBytes = Math.floor(limits.mailboxBytes * limits.senderShare)
  }

  /** Takes room for one message. One that is larger than a share alone is let through while the sender holds nothing. */
  take(held: Held): void {
    const box = this.#boxes.get(held.to) ?? new Map<Aid, Share>()
    const share = box.get(held.from) ?? { messages: 0, bytes: 0 }
    if (share.messages >= this.#maxMessages || (share.messages > 0 && share.bytes + held.size > this.#maxBytes)) {
      throw new HubError('mailbox_full', 'This sender holds its share of the mailbox. The messages wait to be fetched.')
    }
    share.messages += 1
    share.bytes += held.size
    this.#boxes.set(held.to, box.set(held.from, share))
  }

  /** The message was stored under this id and counts until {@link release}. */
  keep(id: number, held: Held): void {
    this.#mails.set(id, held)
  }

  release(ids: readonly number[]): void {
    for (const id of ids) {
      const held = this.#mails.get(id)
      if (held === undefined) continue
      this.#mails.delete(id)
      this.giveBack(held)
    }
  }

  giveBack(held: Held): void {
    const box = this.#boxes.get(held.to)
    const share = box?.get(held.from)
    if (box === undefined || share === undefined) return
    share.messages -= 1
    share.bytes -= held.size
    if (share.messages > 0) return
    box.delete(held.from)
    if (box.size === 0) this.#boxes.delete(held.to)
  }
}
