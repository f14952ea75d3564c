import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import type { Aid } from '@shared/wire/index.ts'
import type { HubParts } from '../parts.ts'
import { MailboxSession, maxReplyBytes } from './session.ts'

/** The mailbox sessions of this process. */
export class MailboxSessions {
  readonly #parts: HubParts
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    // MailboxSession answers pings
    autoPong: false,
    maxPayload: maxReplyBytes,
  })
  readonly #sessions = new Set<MailboxSession>()
  #heartbeat: NodeJS.Timeout | undefined
  #stopping = false

  constructor(parts: HubParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#sessions.size
  }

  /** Turns an upgrade whose request was checked into the agent's session. */
  open(aid: Aid, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      const session = new MailboxSession(this.#parts, aid, webSocket, () => {
        this.#sessions.delete(session)
        if (this.#sessions.size === 0) {
          clearInterval(this.#heartbeat)
          this.#heartbeat = undefined
        }
      })
      this.#sessions.add(session)
      this.#heartbeat ??= setInterval(() => this.#beat(), this.#parts.limits.heartbeatEvery)
      if (this.#stopping) session.close(1001, 'the hub stops')
    })
  }

  /** Asks every session to go, and to come back when the hub does. */
  stop(): void {
    this.#stopping = true
    for (const session of this.#sessions) session.close(1001, 'the hub stops')
  }

  /** Ends the sessions whose agents did not answer {@link stop}. */
  terminate(): void {
    for (const session of this.#sessions) session.terminate()
  }

  #beat(): void {
    for (const session of this.#sessions) {
      if (session.alive) session.ping()
      else session.terminate()
    }
  }
}
