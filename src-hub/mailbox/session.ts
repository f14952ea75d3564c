import { randomUUID } from 'node:crypto'
import type { WebSocket } from 'ws'
import { type Aid, decodeCbor, mailboxCloseCodes, mailboxReplySchema } from '@shared/wire/index.ts'
import type { WakeEvent } from '../bus/index.ts'
import type { HubParts } from '../parts.ts'
import { joinRaw, rawLength } from '../raw-cbor.ts'
import type { StoredMail } from '../store/index.ts'
import { Acknowledger } from './acknowledge.ts'
import { DeliveryWindow } from './delivery-window.ts'
import { deliverHead, ephemeralFrame, mailIds, supersededFrame } from './frames.ts'

/** Bytes that may wait in a socket before the hub waits for it. */
const maxBuffered = 256 * 1024
const batch = { limit: 64, bytes: 256 * 1024 }
export const maxReplyBytes = 128 * 1024

/** One agent's mailbox over one WebSocket: sends what is stored, in order, as fast as the agent takes it. */
export class MailboxSession {
  readonly aid: Aid
  /** Set by each pong; {@link MailboxSessions} ends a session that gave none between two pings. */
  alive = true
  readonly #id = randomUUID()
  readonly #socket: WebSocket
  readonly #parts: HubParts
  readonly #window: DeliveryWindow
  readonly #acknowledger: Acknowledger
  readonly #unsubscribe: () => void
  #sent = 0
  /** Everything up to the newest message of the store is sent; the next one can go out without a look into it. */
  #caughtUp = false
  #pumping = false
  #woken = false
  /** A delivery is on its way in several frames: nothing may come between them. */
  #midway = false
  #closed = false

  constructor(parts: HubParts, aid: Aid, socket: WebSocket, onClose: () => void) {
    this.aid = aid
    this.#parts = parts
    this.#socket = socket
    this.#window = new DeliveryWindow(parts.limits)
    this.#acknowledger = new Acknowledger(parts, aid)
    this.#unsubscribe = parts.bus.subscribe(aid, (event) => this.#onWake(event))
    socket.on('pong', () => {
      this.alive = true
    })
    // an agent that asks and does not read the answers gets no more of them: they would fill the memory
    socket.on('ping', (data: Buffer) => {
      if (!this.#closed && socket.bufferedAmount < maxBuffered) socket.pong(data)
    })
    socket.on('message', (data, isBinary) => this.#onMessage(data as Buffer, isBinary))
    socket.on('error', () => socket.terminate())
    socket.on('close', () => {
      this.#end()
      onClose()
    })
    parts.bus.publish(aid, { type: 'session', session: this.#id })
    this.#wake()
  }

  ping(): void {
    this.alive = false
    this.#socket.ping()
  }

  close(code: number, reason: string): void {
    this.#end()
    this.#socket.close(code, reason)
  }

  terminate(): void {
    this.#end()
    this.#socket.terminate()
  }

  #end(): void {
    this.#closed = true
    this.#unsubscribe()
    this.#window.close()
  }

  #onWake(event: WakeEvent): void {
    switch (event.type) {
      case 'mail':
        if (!this.#handOver(event.id, event.envelope)) this.#wake()
        return
      case 'session':
        if (event.session === this.#id) return
        if (!this.#midway) this.#socket.send(supersededFrame)
        this.close(mailboxCloseCodes.superseded, 'superseded')
        return
      case 'removed':
        this.close(mailboxCloseCodes.removed, 'removed')
        return
      case 'ephemeral':
        if (this.#midway || this.#socket.bufferedAmount > maxBuffered) this.#parts.metrics.ephemeralDropped.add(1)
        else this.#socket.send(joinRaw(ephemeralFrame(event.envelope)))
    }
  }

  #onMessage(data: Buffer, isBinary: boolean): void {
    try {
      if (!isBinary) throw new Error('a text frame')
      const reply = mailboxReplySchema.parse(decodeCbor(new Uint8Array(data), maxReplyBytes))
      const ids = mailIds(reply.ids)
      this.#window.release(ids)
      const busy = this.#acknowledger.add(ids)
      if (busy === undefined) return
      this.#socket.pause()
      void busy.then(() => this.#socket.resume())
    } catch {
      this.close(1008, 'only acknowledgements in DAG-CBOR are understood here')
    }
  }

  /** Sends a message as it is announced, if nothing is before it and the agent keeps up. */
  #handOver(id: number, envelope: Uint8Array | undefined): boolean {
    const keepsUp = this.#caughtUp && this.#window.hasRoom && this.#socket.bufferedAmount < maxBuffered
    if (envelope === undefined || id <= this.#sent || !keepsUp || this.#closed) return false
    this.#sent = id
    this.#count(id, envelope.byteLength)
    this.#socket.send(joinRaw([...deliverHead(id, envelope.byteLength), envelope]))
    return true
  }

  #count(id: number, size: number): void {
    this.#window.add(id, size)
    this.#parts.metrics.delivered.add(1)
  }

  #wake(): void {
    this.#caughtUp = false
    this.#woken = true
    if (this.#pumping || this.#closed) return
    this.#pumping = true
    this.#pump().then(
      () => {
        this.#pumping = false
        if (this.#woken) this.#wake()
      },
      (error: unknown) => {
        this.#pumping = false
        if (this.#closed) return
        this.#parts.log.error({ err: error }, 'A mailbox could not be delivered')
        // the agent comes back and finds everything where it was
        this.terminate()
      },
    )
  }

  async #pump(): Promise<void> {
    const { store, clock, limits } = this.#parts
    while (this.#woken && !this.#closed) {
      this.#woken = false
      for (;;) {
        const mail = await store.mailAfter(this.aid, this.#sent, { ...batch, since: clock.now() - limits.keepFor })
        this.#caughtUp = mail.length === 0
        if (this.#caughtUp) break
        for (const one of mail) {
          await this.#window.room()
          if (this.#closed) return
          await this.#deliver(one)
          this.#sent = one.id
        }
      }
    }
  }

  async #deliver(mail: StoredMail): Promise<void> {
    if (mail.blob === undefined && mail.envelope === undefined) return
    this.#count(mail.id, mail.size)
    const head = deliverHead(mail.id, mail.size)
    if (mail.envelope !== undefined) {
      const frame = joinRaw([...head, mail.envelope])
      if (this.#socket.bufferedAmount + rawLength(head) < maxBuffered) this.#socket.send(frame)
      else await this.#write(frame, true)
      return
    }
    const pieces = this.#parts.store.readBlob(mail.blob ?? '')[Symbol.asyncIterator]()
    // nothing is sent before the file has been opened: a lost one must not hold up the mailbox for ever
    let piece = await pieces.next().catch((error: unknown) => {
      this.#parts.log.error({ err: error }, 'A stored envelope cannot be read')
    })
    if (piece === undefined) return
    this.#midway = true
    try {
      await this.#write(joinRaw(head), false)
      for (; piece.done !== true; piece = await pieces.next()) await this.#write(piece.value, false)
      await this.#write(new Uint8Array(0), true)
    } finally {
      this.#midway = false
      await pieces.return?.()
    }
  }

  /** Settles when the bytes have left for the socket. */
  #write(bytes: Uint8Array, fin: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.send(bytes, { binary: true, fin }, (error) => (error ? reject(error) : resolve()))
    })
  }
}
