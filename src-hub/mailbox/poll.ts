import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { randomUUID } from 'node:crypto'
import { type Aid, hubMediaType } from '@shared/wire/index.ts'
import { HubError } from '../errors.ts'
import type { HubParts } from '../parts.ts'
import { type RawCbor, joinRaw, rawArray, rawLength, rawMap } from '../raw-cbor.ts'
import type { StoredMail } from '../store/index.ts'
import { deliveryHead } from './frames.ts'

/** Bytes of one answer, unless its only envelope is larger. */
const answerBytes = 4 * 1024 * 1024

/** Long polls of this process; the hub answers them early when it stops. */
export type OpenPolls = Set<() => void>

/**
 * The oldest messages of an agent's mailbox, waiting up to `waitMs` for the first. A poll is a session like the
 * WebSocket's: it ends those before it, and a newer one ends it with `superseded`.
 */
export async function poll(
  parts: HubParts,
  polls: OpenPolls,
  aid: Aid,
  { waitMs, max }: { waitMs: number; max: number },
  response: ServerResponse,
): Promise<void> {
  const session = randomUUID()
  let refusal: HubError | undefined
  let wake = () => {}
  const unsubscribe = parts.bus.subscribe(aid, (event) => {
    if (event.type === 'ephemeral') return
    if (event.type === 'removed') refusal = new HubError('removed', 'The operator of this hub removed this agent.')
    if (event.type === 'session' && event.session !== session) {
      refusal = new HubError('superseded', 'A newer session of this agent reads the mailbox.')
    }
    wake()
  })
  let ended = false
  const end = () => {
    ended = true
    wake()
  }
  polls.add(end)
  response.once('close', end)
  const timer = setTimeout(end, waitMs)
  try {
    parts.bus.publish(aid, { type: 'session', session })
    for (;;) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve
      })
      const mail = await read(parts, aid, max)
      if (refusal !== undefined) throw refusal
      if (mail.length > 0 || ended) return await answer(parts, mail, response)
      if (!ended) await woken
    }
  } finally {
    clearTimeout(timer)
    polls.delete(end)
    response.off('close', end)
    unsubscribe()
  }
}

async function read(parts: HubParts, aid: Aid, max: number): Promise<readonly StoredMail[]> {
  const since = parts.clock.now() - parts.limits.keepFor
  const mail = await parts.store.mailAfter(aid, 0, { limit: max, bytes: answerBytes, since })
  // large envelopes are not counted by the store: they come from files, one at a time
  let sum = 0
  return mail.filter((one, at) => (sum += one.size) <= answerBytes || at === 0)
}

async function answer(parts: HubParts, mail: readonly StoredMail[], response: ServerResponse): Promise<void> {
  if (response.destroyed) return
  const heads = mail.map((one) => deliveryHead(one.id, one.size))
  const opening: RawCbor = rawMap(['deliveries', rawArray(heads.map(() => []))])
  const length = mail.reduce((sum, one, at) => sum + rawLength(heads[at] ?? []) + one.size, rawLength(opening))
  response.writeHead(200, {
    'content-type': hubMediaType,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-length': length,
  })
  response.write(joinRaw(opening))
  for (const [at, one] of mail.entries()) {
    await write(response, joinRaw(heads[at] ?? []))
    if (one.envelope !== undefined) await write(response, one.envelope)
    else if (one.blob !== undefined) {
      for await (const piece of parts.store.readBlob(one.blob)) await write(response, piece)
    }
    parts.metrics.delivered.add(1)
  }
  response.end()
}

async function write(response: ServerResponse, bytes: Uint8Array): Promise<void> {
  if (response.destroyed) throw new HubError('internal', 'The client went away.')
  if (response.write(bytes)) return
  const gone = new AbortController()
  const onClose = () => gone.abort()
  response.once('close', onClose)
  try {
    await once(response, 'drain', { signal: gone.signal })
  } finally {
    response.off('close', onClose)
  }
}
