import { isAnetError } from '@shared/errors.ts'
import { setTimeout as wait } from 'node:timers/promises'
import { backoff } from './backoff.ts'
import type { HubClient } from './hub-client.ts'
import type { Mailbox, MailboxEnd, MailboxEvents } from './mailbox.ts'

const waitMs = 50_000
const deliveriesAtOnce = 64

/**
 * The mailbox by long polls, where no WebSocket gets through. One poll after the other, each once its predecessor's
 * deliveries were dealt with; previews do not come this way.
 */
export function pollMailbox(client: HubClient, events: MailboxEvents, first: number, max: number): Mailbox {
  const stop = new AbortController()
  const ended = run()
  return {
    ended,
    acknowledge: async (ids) => await client.acknowledge(ids),
    close: () => stop.abort(),
  }

  async function run(): Promise<MailboxEnd> {
    const met = new Set<string>()
    let attempt = 0
    try {
      for (;;) {
        const deliveries = await client.poll(waitMs, deliveriesAtOnce, stop.signal)
        await Promise.all(deliveries.map((delivery) => events.delivery(delivery)))
        // what could not be taken is still there and answers every poll at once
        const news = deliveries.some(({ id }) => !met.has(id))
        attempt = deliveries.length > 0 && !news ? attempt + 1 : 0
        met.clear()
        for (const { id } of deliveries) met.add(id)
        if (attempt > 0) await wait(backoff(attempt, first, max), undefined, { signal: stop.signal, ref: false })
      }
    } catch (error) {
      if (stop.signal.aborted) return 'closed'
      return isAnetError(error, 'superseded') ? 'superseded' : 'lost'
    }
  }
}
