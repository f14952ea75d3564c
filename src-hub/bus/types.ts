import type { Aid } from '@shared/wire/index.ts'

/** What reaches whoever serves an agent's mailbox, in whichever process of the hub that is. */
export type WakeEvent =
  /** New mail is in the store. With its envelope a session that has sent all before need not read it back. */
  | { readonly type: 'mail'; readonly id: number; readonly envelope: Uint8Array | undefined }
  /** A newer session took over: every other one ends. */
  | { readonly type: 'session'; readonly session: string }
  /** The operator removed the agent. */
  | { readonly type: 'removed' }
  /** An envelope for a connected session, or for nobody. */
  | { readonly type: 'ephemeral'; readonly envelope: Uint8Array }

/** Wakes the sessions of an agent. Best effort: the store is what counts, and a session reads it when it begins. */
export interface WakeBus {
  publish(aid: Aid, event: WakeEvent): void
  /** The returned function ends the subscription. */
  subscribe(aid: Aid, listener: (event: WakeEvent) => void): () => void
  close(): Promise<void>
}
