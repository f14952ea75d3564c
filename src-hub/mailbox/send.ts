import type { IncomingMessage } from 'node:http'
import { type Aid, equalBytes, type HubRequest } from '@shared/wire/index.ts'
import { HubError } from '../errors.ts'
import { receiveBody } from '../http/body.ts'
import type { HubParts } from '../parts.ts'
import type { BlobWriter } from '../store/index.ts'
import { EnvelopeScanner } from './envelope-scanner.ts'

type Content = { readonly envelope: Uint8Array } | { readonly blob: string }

interface Received {
  readonly to: Aid
  readonly size: number
  /** Makes the bytes ready for the store: a large envelope is on the disk when it settles. */
  content(): Promise<Content>
  discard(): Promise<void>
}

/**
 * Takes an envelope in: for the mailbox, durable before it is answered, or with `ephemeral` for a connected session
 * only. The sender is checked, counted and forgotten. Errors: `too_large`, `bad_request`, `bad_signature`,
 * `replayed_request`, `unknown_agent`, `mailbox_full`.
 */
export async function send(
  parts: HubParts,
  incoming: IncomingMessage,
  request: HubRequest,
  ephemeral: boolean,
): Promise<{ stored: boolean }> {
  const received = await receiveEnvelope(parts, incoming, request, ephemeral)
  try {
    return await (ephemeral ? handOver(parts, received, request) : store(parts, received, request))
  } catch (error) {
    await received.discard()
    throw error
  }
}

async function store(parts: HubParts, received: Received, request: HubRequest): Promise<{ stored: true }> {
  const { limits, shares, clock, bus, metrics, fault } = parts
  const { to, size } = received
  const held = { to, from: request.aid, size }
  shares.take(held)
  try {
    const content = await received.content()
    const outcome = await parts.store.appendMail({
      to,
      at: clock.now(),
      size,
      content,
      nonce: request,
      box: { messages: limits.mailboxMessages, bytes: limits.mailboxBytes },
      onStored: (id) => {
        shares.keep(id, held)
        bus.publish(to, { type: 'mail', id, envelope: 'envelope' in content ? content.envelope : undefined })
      },
    })
    if (outcome !== 'stored') throw refusal(outcome)
  } catch (error) {
    shares.giveBack(held)
    throw error
  }
  fault('hub.mail.committed')
  metrics.stored.add(1)
  metrics.storedBytes.add(size)
  return { stored: true }
}

function refusal(outcome: 'replayed' | 'full' | 'unknown_agent'): HubError {
  switch (outcome) {
    case 'replayed':
      return new HubError('replayed_request', 'This request was used before.')
    case 'full':
      return new HubError('mailbox_full', 'The mailbox of this agent is full.')
    case 'unknown_agent':
      return unknownAgent()
  }
}

async function handOver(parts: HubParts, received: Received, request: HubRequest): Promise<{ stored: false }> {
  const member = await parts.store.memberKey(received.to)
  if (member?.state !== 'member' || member.key === null) throw unknownAgent()
  if (!parts.recentNonces.use(request)) {
    throw new HubError('replayed_request', 'This request was used before.')
  }
  const content = await received.content()
  if ('envelope' in content) parts.bus.publish(received.to, { type: 'ephemeral', envelope: content.envelope })
  parts.metrics.ephemeral.add(1)
  return { stored: false }
}

async function receiveEnvelope(
  parts: HubParts,
  incoming: IncomingMessage,
  request: HubRequest,
  inMemory: boolean,
): Promise<Received> {
  const { limits } = parts
  const scanner = new EnvelopeScanner()
  const maxBytes = inMemory ? Math.min(limits.ephemeralBytes, limits.envelopeBytes) : limits.envelopeBytes
  const inlineBytes = inMemory ? maxBytes : limits.inlineBytes
  let pieces: Uint8Array[] = []
  let size = 0
  let blob: BlobWriter | undefined
  const flush = async () => {
    const whole = joined(pieces)
    pieces = []
    blob ??= await parts.store.createBlob()
    await blob.write(whole)
  }
  const discard = async () => {
    await blob?.discard()
  }
  try {
    const hash = await receiveBody(incoming, { maxBytes, idle: limits.bodyIdle }, (piece) => {
      scanner.push(piece)
      pieces.push(piece)
      size += piece.byteLength
      const waiting = blob === undefined ? size : pieces.length * piece.byteLength
      return waiting > inlineBytes ? flush() : undefined
    })
    if (!equalBytes(hash, request.body)) {
      throw new HubError('bad_signature', 'The body of this request is not the one that was signed.')
    }
    const to = scanner.finish()
    if (blob !== undefined && pieces.length > 0) await flush()
    const file = blob
    return {
      to,
      size,
      discard,
      content: async () => (file === undefined ? { envelope: joined(pieces) } : { blob: await file.commit() }),
    }
  } catch (error) {
    await discard()
    throw error
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces
  return only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces)
}

function unknownAgent(): HubError {
  return new HubError('unknown_agent', 'No agent with this AID receives mail at this hub.')
}
