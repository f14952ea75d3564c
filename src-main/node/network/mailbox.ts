import { decode } from '@ipld/dag-cbor'
import { AnetError } from '@shared/errors.ts'
import {
  type Delivery,
  encodeCbor,
  holdsTooManyValues,
  hubErrorSchema,
  limits,
  mailboxCloseCodes,
  mailboxFrameSchema,
} from '@shared/wire/index.ts'
import { WebSocket } from 'ws'
import type { HubTrouble } from './hub-http.ts'

export interface MailboxEvents {
  /** Settles when the delivery was dealt with, one way or another: until then its bytes count as unread. */
  delivery(delivery: Delivery): Promise<void>
  ephemeral(envelope: Uint8Array): Promise<void>
}

/** Why a mailbox session ended. `superseded`: a newer session of this AID took over. `removed`: by the hub's operator. */
export type MailboxEnd = 'closed' | 'lost' | 'superseded' | 'removed' | 'garbage'

export interface Mailbox {
  readonly ended: Promise<MailboxEnd>
  acknowledge(ids: readonly string[]): Promise<void>
  close(): void
}

const frameOverhead = 4096
const namedClose: ReadonlyMap<number, MailboxEnd> = new Map([
  [mailboxCloseCodes.superseded, 'superseded'],
  [mailboxCloseCodes.removed, 'removed'],
])
/** Above this much that was received and not dealt with, reading pauses. */
const unreadLimit = limits.message.envelopeBytes + 16 * 1024 * 1024
const maxIds = 1024
const maxUnsentPongs = 64 * 1024
const refusalBytes = 16 * 1024

/**
 * The mailbox over a WebSocket: binary DAG-CBOR frames of mailboxFrameSchema. Resolves when it is open. Errors:
 * `hub_unreachable` and the hub's own codes; a server that answers the handshake without the hub protocol, as a proxy
 * that knows no WebSocket does, is `mailbox_needs_polling`.
 */
export async function openMailbox(parts: {
  url: string
  headers: Record<string, string>
  unreachable: (why: HubTrouble, what: string, cause?: unknown) => AnetError
  events: MailboxEvents
  pingEvery: number
  answerWithin: number
  signal: AbortSignal
}): Promise<Mailbox> {
  const socket = new WebSocket(parts.url, {
    headers: parts.headers,
    maxPayload: limits.message.envelopeBytes + frameOverhead,
    handshakeTimeout: parts.answerWithin,
    perMessageDeflate: false,
    followRedirects: false,
    autoPong: false,
  })
  socket.binaryType = 'nodebuffer'
  let end: MailboxEnd = 'lost'
  const ended = new Promise<MailboxEnd>((resolve) => {
    socket.once('close', (code) => resolve(end === 'lost' ? (namedClose.get(code) ?? 'lost') : end))
  })
  const finish = (reason: MailboxEnd): void => {
    end = reason
    socket.terminate()
  }
  receive(socket, parts.events, finish)
  const abort = (): void => finish('closed')
  parts.signal.addEventListener('abort', abort, { once: true })
  socket.once('close', () => parts.signal.removeEventListener('abort', abort))
  await opened(socket, parts.unreachable)
  keepAlive(socket, parts.pingEvery, () => finish('lost'))
  return {
    ended,
    acknowledge: async (ids) => {
      for (let from = 0; from < ids.length; from += maxIds) {
        const frame = encodeCbor({ type: 'ack', ids: ids.slice(from, from + maxIds) })
        await new Promise<void>((resolve, reject) => {
          socket.send(frame, (error) => (error ? reject(error) : resolve()))
        })
      }
    },
    close: () => {
      end = 'closed'
      socket.close(1000)
      // a peer that does not answer the closing handshake shall not keep the process
      const timer = setTimeout(() => socket.terminate(), 1000)
      timer.unref()
      socket.once('close', () => clearTimeout(timer))
    },
  }
}

function receive(socket: WebSocket, events: MailboxEvents, finish: (reason: MailboxEnd) => void): void {
  let unread = 0
  const reading = (bytes: number, work: Promise<void>): void => {
    unread += bytes
    if (unread > unreadLimit) socket.pause()
    void work.finally(() => {
      unread -= bytes
      if (socket.isPaused && unread <= unreadLimit / 2) socket.resume()
    })
  }
  socket.on('message', (data: Buffer, binary: boolean) => {
    const frame = mailboxFrameSchema.safeParse(binary ? decodeFrame(data) : undefined)
    if (!frame.success) return finish('garbage')
    if (frame.data.type === 'superseded') return finish('superseded')
    const { data: message } = frame
    if (message.type === 'deliver') reading(data.byteLength, events.delivery(message.delivery))
    else reading(data.byteLength, events.ephemeral(message.envelope))
  })
}

function decodeFrame(data: Buffer): unknown {
  if (holdsTooManyValues(data)) return undefined
  try {
    return decode(new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
  } catch {
    return undefined
  }
}

async function opened(
  socket: WebSocket,
  unreachable: (why: HubTrouble, what: string, cause?: unknown) => AnetError,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.on('error', (cause) => reject(unreachable('connect', 'does not open the mailbox', cause)))
    socket.once('unexpected-response', (request, response) => {
      const pieces: Buffer[] = []
      let size = 0
      response.on('data', (piece: Buffer) => {
        size += piece.byteLength
        if (size <= refusalBytes) pieces.push(piece)
      })
      response.once('error', (cause) => reject(unreachable('connect', 'does not open the mailbox', cause)))
      response.once('end', () => {
        request.destroy()
        reject(refusal(response.statusCode ?? 0, Buffer.concat(pieces), unreachable))
      })
    })
  })
}

function refusal(status: number, body: Buffer, unreachable: (why: HubTrouble, what: string) => AnetError): AnetError {
  const parsed = hubErrorSchema.safeParse(decodeFrame(body))
  // a proxy that drops the upgrade leaves a request that the hub has no answer for
  if (parsed.success && !['internal', 'not_found'].includes(parsed.data.error.code)) {
    return new AnetError(parsed.data.error.code, parsed.data.error.message)
  }
  if (status >= 500) return unreachable('server', `has a fault of its own (${status})`)
  return new AnetError('mailbox_needs_polling', `The way to the hub lets no WebSocket through (${status}).`)
}

/** A connection that died without a word shows by the missing answer to a ping. */
function keepAlive(socket: WebSocket, every: number, lost: () => void): void {
  let alive = true
  const timer = setInterval(() => {
    if (!alive) return lost()
    alive = false
    socket.ping()
  }, every)
  timer.unref()
  const heard = (): void => {
    alive = true
  }
  socket.on('pong', heard)
  socket.on('ping', (data: Buffer) => {
    heard()
    // who does not read the answers gets no more of them: they would fill the memory
    if (socket.readyState === WebSocket.OPEN && socket.bufferedAmount < maxUnsentPongs) socket.pong(data)
  })
  socket.on('message', heard)
  socket.once('close', () => clearInterval(timer))
}
