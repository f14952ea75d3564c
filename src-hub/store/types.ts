import type { WriteOptions } from '@shared/sql/index.ts'
import type { Aid } from '@shared/wire/index.ts'

export type MemberState = 'member' | 'waiting' | 'removed'

/** What the check of a signed request needs. */
export interface MemberKey {
  readonly aid: Aid
  readonly state: MemberState
  /** Number and public key of the key in use; null once the agent is deactivated. */
  readonly ksn: number
  readonly key: Uint8Array | null
  /** Milliseconds since 1970, in steps of {@link seenStep}. */
  readonly lastSeen: number
}

/** All that the hub keeps of an agent. Statements are kept as the bytes that were signed. */
export interface MemberRecord extends MemberKey {
  /** Grows by one with every write; see {@link HubStore.saveMember}. */
  readonly version: number
  /** Encoded signed statements in order. */
  readonly history: readonly Uint8Array[]
  readonly keyset: { readonly seq: number; readonly bytes: Uint8Array }
  /** Newest card or withdrawal: both have seqs of one series. */
  readonly card: StoredCard | undefined
  readonly joinedAt: number
}

export type StoredCard =
  | {
      readonly kind: 'card'
      readonly seq: number
      readonly bytes: Uint8Array
      readonly exp: number
      readonly ksn: number
    }
  | { readonly kind: 'withdrawal'; readonly seq: number; readonly bytes: Uint8Array }

/** Words by which a card is found; empty for an agent that is not to be found. */
export interface CardIndex {
  readonly skills: readonly string[]
  readonly tags: readonly string[]
  readonly text: string
}

export interface MemberWrite {
  readonly aid: Aid
  readonly state: MemberState
  readonly ksn: number
  readonly key: Uint8Array | null
  readonly history: readonly Uint8Array[]
  readonly keyset: MemberRecord['keyset']
  readonly card: StoredCard | undefined
  /** Undefined: the card stays as it is, and so does its index. */
  readonly index: CardIndex | undefined
}

/** A statement that contradicts the one the hub has. Both are kept as proof. */
export interface Fork {
  readonly aid: Aid
  readonly kind: 'history' | 'keyset' | 'card'
  readonly seq: number
  readonly at: number
  readonly known: Uint8Array
  readonly other: Uint8Array
}

export interface Nonce {
  readonly time: number
  readonly nonce: Uint8Array
}

/** A position in the listing as it was at `at`; see docs of {@link HubStore.listAgents}. */
export interface ListPosition {
  readonly at: number
  readonly seen: number
  readonly aid: Aid
}

export interface ListQuery {
  readonly skill?: string
  readonly tag?: string
  /** Each word has to be found, as the beginning of a word. */
  readonly words?: readonly string[]
  readonly now: number
  readonly after?: ListPosition
  readonly limit: number
  /** The page ends early rather than hold more than this, but has one agent at least. */
  readonly bytes: number
}

export interface ListPage {
  readonly agents: readonly MemberRecord[]
  /** Where the next page begins; undefined after the last one. */
  readonly next: ListPosition | undefined
}

export interface StoredMail {
  /** Never given twice. */
  readonly id: number
  readonly size: number
  /** Small envelopes; large ones are read with {@link HubStore.readBlob}. */
  readonly envelope: Uint8Array | undefined
  readonly blob: string | undefined
}

interface NewMail {
  readonly to: Aid
  readonly at: number
  readonly size: number
  readonly content: { readonly envelope: Uint8Array } | { readonly blob: string }
  readonly nonce: Nonce
  readonly box: MailboxLimits
  /** Called once the message is durable, before the promise settles, and in the order of the ids of its mailbox. */
  readonly onStored: (id: number) => void
}

interface MailboxLimits {
  readonly messages: number
  readonly bytes: number
}

/** An envelope on its way to the disk. `commit` returns its name once its bytes are durable. */
export interface BlobWriter {
  write(piece: Uint8Array): Promise<void>
  commit(): Promise<string>
  discard(): Promise<void>
}

export interface MemberSummary {
  readonly aid: Aid
  readonly state: MemberState
  readonly joinedAt: number
  readonly lastSeen: number
  readonly listed: boolean
  readonly messages: number
  readonly bytes: number
}

export interface Totals {
  readonly members: number
  readonly waiting: number
  readonly removed: number
  readonly messages: number
  readonly bytes: number
  readonly forks: number
}

/**
 * The hub's memory. Every write is durable when its promise settles. Implementations share one test suite
 * (test/integration/hub/store.test.ts); more than one process may work on one store.
 */
export interface HubStore {
  memberKey(aid: Aid): Promise<MemberKey | undefined>
  member(aid: Aid): Promise<MemberRecord | undefined>
  /**
   * Writes an agent if it is still at `expected` (undefined: not there yet), and uses up `invite` with it.
   * `conflict`: somebody wrote in between, read again. `invite_invalid`: unknown, used or expired.
   */
  saveMember(
    write: MemberWrite,
    options: { expected: number | undefined; at: number; invite?: string },
  ): Promise<'saved' | 'conflict' | 'invite_invalid'>
  setState(aid: Aid, state: MemberState): Promise<boolean>
  /** Takes an agent out and deletes its mail, whose ids it returns. Undefined if there is no such agent. */
  removeMember(aid: Aid): Promise<readonly number[] | undefined>
  listMembers(query: { state?: MemberState; after?: Aid; limit: number }): Promise<readonly MemberSummary[]>
  count(state: MemberState): Promise<number>
  /** Notes that an agent was there. Kept to {@link seenStep}: the listing must not move under its readers. */
  touch(aid: Aid, at: number): Promise<void>

  addFork(fork: Fork): Promise<void>
  listForks(limit: number): Promise<readonly Fork[]>

  /**
   * Agents with a card in force, last seen first, then by AID. A page's last position continues the same listing for
   * {@link seenStep}: nobody comes twice, and nobody who was there throughout is left out.
   */
  listAgents(query: ListQuery): Promise<ListPage>

  /** False if it was used before. */
  useNonce(nonce: Nonce): Promise<boolean>
  /** Of requests up to this time some nonces are forgotten: they must be refused, whatever the clock says now. */
  nonceFloor(): number

  /** Uses up the nonce and stores the envelope in one transaction; see {@link NewMail.onStored}. */
  appendMail(mail: NewMail): Promise<'stored' | 'full' | 'replayed' | 'unknown_agent'>
  /** In order, oldest first, younger than `since`; as much as has `bytes` in rows, but one at least. */
  mailAfter(
    aid: Aid,
    after: number,
    options: { limit: number; bytes: number; since: number },
  ): Promise<readonly StoredMail[]>
  /** Deletes the agent's own messages among `ids`; returns those it deleted. */
  deleteMail(aid: Aid, ids: readonly number[], waiting?: WriteOptions): Promise<readonly number[]>
  createBlob(): Promise<BlobWriter>
  /** Pieces of a blob, one in memory at a time. */
  readBlob(name: string): AsyncIterable<Uint8Array>

  addInvite(invite: { hash: string; createdAt: number; expiresAt: number }): Promise<void>

  /** Deletes what is past its time: messages, nonces, invites. Returns the ids of the deleted messages. */
  sweep(before: { mail: number; nonces: number; invites: number }): Promise<readonly number[]>
  totals(): Promise<Totals>
  /** Throws if the store cannot write. */
  check(): Promise<void>
  close(): Promise<void>
}

/** `lastSeen` moves in steps of this many milliseconds, and a listing's cursor lives as long. */
export const seenStep = 10 * 60_000
