import { isAnetError } from '@shared/errors.ts'
import type { Log } from '../ports.ts'
import type { NetworkTiming } from './backoff.ts'
import type { HubClient } from './hub-client.ts'
import type { Inbox } from './inbox.ts'
import type { Mailbox, MailboxEnd, MailboxEvents } from './mailbox.ts'
import { pollMailbox } from './poll.ts'

/** One stay at the mailbox of one hub: what arrives goes to the inbox, what was committed is deleted at the hub. */
export interface HubSession {
  readonly ended: Promise<MailboxEnd>
  close(): void
}

/** Opens the mailbox, over a WebSocket where one gets through. Errors: as of every call to the hub. */
export async function openSession(parts: {
  client: HubClient
  inbox: Inbox
  timing: NetworkTiming
  log: Log
  fault: (name: string) => void
}): Promise<HubSession> {
  const { client, inbox, timing, log, fault } = parts
  let mailbox: Mailbox | undefined
  let done: string[] = []
  let flushed: Promise<void> | undefined

  /** Those that are done in the same turn of the loop are acknowledged together. */
  const acknowledge = (id: string): Promise<void> => {
    done.push(id)
    flushed ??= new Promise<void>((resolve) => setImmediate(resolve)).then(async () => {
      const ids = done
      done = []
      flushed = undefined
      // what the hub does not hear it delivers again; a repeated message is known and changes nothing
      await mailbox?.acknowledge(ids).catch(() => undefined)
      fault('inbox.acknowledged')
    })
    return flushed
  }
  const events: MailboxEvents = {
    delivery: async (delivery) => {
      if (await inbox.receive(delivery)) await acknowledge(delivery.id)
    },
    ephemeral: async (envelope) => await inbox.receiveEphemeral(envelope),
  }
  try {
    mailbox = await client.mailbox(events, timing)
  } catch (error) {
    if (!isAnetError(error, 'mailbox_needs_polling')) throw error
    log.info('the way to the hub lets no WebSocket through: the mailbox is polled')
    mailbox = pollMailbox(client, events, timing.retryFirst, timing.retryMax)
  }
  return { ended: mailbox.ended, close: () => mailbox.close() }
}
