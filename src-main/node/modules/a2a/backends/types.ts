import type { Socket } from 'node:net'
import type { Accounts } from './accounts.ts'
import type { PeerUid } from './peer-credentials.ts'

/**
 * Opens connections to one backend. A connection that {@link Connector.connect} returns has been checked and nothing
 * has been written to it.
 */
export interface Connector {
  /** Where requests go. For a unix socket a name that only stands in the Host header. */
  readonly origin: string
  /** True for a unix socket: whatever host a card names, requests stay on the socket. */
  readonly onSocket: boolean
  /** Path of the card below the origin. */
  readonly cardPath: string
  /**
   * Errors, all of them before a byte was written: `backend_unreachable`, `backend_untrusted_path`,
   * `backend_untrusted_peer`, `backend_unknown_peer`, `backend_unknown_user`.
   */
  connect(signal: AbortSignal): Promise<Socket>
  /** What was checked, in one sentence, by a connection made for the purpose. Errors as for connect. */
  check(signal: AbortSignal): Promise<string>
}

/** What a connector needs of the machine; tests hand in their own accounts and credentials. */
export interface ConnectorSurroundings {
  readonly nodeUid: number
  readonly accounts: Accounts
  peerUid(): Promise<PeerUid | undefined>
}

export const wellKnownCard = '/.well-known/agent-card.json'
