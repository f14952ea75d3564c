import type { AgentRecord, Aid, Body, DirectoryQuery, Inner, MessageType } from '@shared/wire/index.ts'
import type { Peer } from '../identity/index.ts'
import type { Unsubscribe } from '../ports.ts'
import type { Tx } from '../store/index.ts'

/** `registered`: the hub accepted the join and has not removed the node. Only then tasks may be sent. */
export interface JoinState {
  readonly state:
    | 'no_hub'
    | 'joining'
    | 'waiting_for_admission'
    | 'joined'
    | 'hub_unreachable'
    | 'refused'
    | 'removed'
    | 'running_elsewhere'
  readonly registered: boolean
  /** One sentence for people and for refusals: what is so and what to do. */
  readonly sentence: string
  readonly hub: { readonly url: string; readonly aid: Aid; readonly name: string } | undefined
  /** Since when (milliseconds since 1970). */
  readonly since: number
}

/** Names a task for both sides: the requester's AID and the id it chose. */
export interface TaskKey {
  readonly requester: Aid
  /** 16 random bytes, hex. */
  readonly id: string
}

/** A message that was opened, verified, deduplicated and is next in order. */
export interface Received<T extends MessageType = MessageType> {
  readonly from: Aid
  readonly type: T
  readonly task: TaskKey | undefined
  readonly body: Body<T>
  readonly inner: Inner
  readonly peer: Peer
}

/**
 * Handles a message inside the transaction that records (from, mid). Throws an AnetError to refuse it for good: the
 * refusal is recorded and the hub is told to delete it. Any other error leaves the message at the hub.
 */
export type Handler<T extends MessageType, P = undefined> = (
  tx: Tx,
  message: Received<T>,
  prepared: P | undefined,
) => void

/**
 * Work before the transaction for a large message: writing its content to sealed files, for example. Called for
 * messages above the inline limit only, once they are verified, in order and from the task's counterpart; what it
 * returns reaches the handler. An AnetError refuses the message for good, any other error leaves it at the hub.
 */
export type Prepare<T extends MessageType, P> = (message: Omit<Received<T>, 'peer'>) => Promise<P>

/** A message that was dropped for good. */
export interface Rejection {
  readonly at: number
  readonly code: string
  /** Undefined if not even the sender could be verified. */
  readonly peer: Aid | undefined
  /** base64url. */
  readonly mid: string | undefined
  readonly detail: string
}

/** Something that only the operator can judge; code `own_history_unknown_head`. */
export interface Alarm {
  readonly code: string
  /** The peer or hub whose statement caused it. */
  readonly witness: Aid
  /** The head of this node's key history that the witness holds. */
  readonly head: string
  readonly at: number
}

export interface Network {
  readonly joinState: JoinState
  onJoinState(listener: (state: JoinState) => void): Unsubscribe
  /** Joins a hub, or changes hubs. Errors: `hub_unreachable`, `hub_wrong_identity`, `invite_required`, `invite_invalid`. */
  join(input: { url: string; aid?: Aid; invite?: string }): Promise<JoinState>
  /** Leaves the hub: nothing is sent or fetched there any more. */
  leave(): Promise<JoinState>
  /** Registers the one handler of a type. Handlers of numbered types see messages in order of `n`. */
  on<T extends MessageType, P = undefined>(type: T, handler: Handler<T, P>, prepare?: Prepare<T, P>): void
  /**
   * Puts a message into the outbox, inside the caller's transaction; it leaves after the commit and stays until the
   * peer acknowledged it or it expired. Numbers are given here. Large bodies: {@link prepareBody} first.
   */
  enqueue<T extends MessageType>(tx: Tx, message: { to: Aid; type: T; task: TaskKey; body: PreparedBody<T> }): void
  /** Encodes a body and, above the inline limit, writes it to a sealed file before the transaction begins. */
  prepareBody<T extends MessageType>(type: T, body: Body<T>): Promise<PreparedBody<T>>
  /** Small bodies, synchronously. Throws `content_too_large` above the inline limit. */
  smallBody<T extends MessageType>(type: T, body: Body<T>): PreparedBody<T>
  /** Best effort: sealed and sent at once, or lost. */
  sendPreview(to: Aid, task: TaskKey, body: Body<'task.preview'>): void
  /** Opens the numbering of a task with its counterpart: at task.open, on both sides (inside network for received ones). */
  openChannel(tx: Tx, task: TaskKey, peer: Aid): void
  /**
   * Registers the one listener of how this node's first message of a task fares, called inside the transaction that
   * records it: `sent` when the hub has taken it (again, if that had to be repeated), `delivered` when the peer has
   * acknowledged it.
   */
  onProgress(
    listener: (tx: Tx, progress: { readonly task: TaskKey; readonly kind: 'sent' | 'delivered' }) => void,
  ): void
  /** True while something of this task waits for the peer's acknowledgement. */
  unconfirmed(task: TaskKey): { readonly count: number; readonly oldest: number | undefined }
  readonly directory: Directory
  /** For the window: what waits to be sent. */
  outboxState(): { readonly waiting: number; readonly oldest: number | undefined }
  /** Connects now, without waiting for the next attempt; also takes the session back from another running node. */
  reconnect(): void
  /** The card changed: publishes it as soon as the hub can be reached. */
  cardChanged(): void
  /** Messages that were dropped for good, newest first. */
  rejections(limit: number): readonly Rejection[]
  alarms(): readonly Alarm[]
  start(): void
  stop(): Promise<void>
}

declare const prepared: unique symbol
/** An encoded body, ready for the outbox. */
export interface PreparedBody<T extends MessageType> {
  readonly [prepared]: T
}

/** The local copy of the hub's directory: answers at once, refreshes behind. Holds verified agents and known peers. */
export interface Directory {
  /** Cached page; stable cursors (no entry twice, none lost that was there throughout). */
  list(query: DirectoryQuery): { readonly agents: readonly DirectoryEntry[]; readonly nextCursor: string }
  /** The agent from the cache or the peers; undefined if nothing is known locally. */
  get(aid: Aid): DirectoryEntry | undefined
  /** Asks the hub for one agent, verifies and stores it. Errors: `unknown_agent`, `hub_unreachable`, and the verifiers'. */
  lookup(aid: Aid): Promise<DirectoryEntry>
  /** Refreshes now and waits for it; used at start, by `anet agents list --refresh` and by tests. */
  refresh(): Promise<void>
  onChange(listener: () => void): Unsubscribe
  /** How many agents the local copy holds; from an index. */
  count(): number
}

export interface DirectoryEntry {
  readonly aid: Aid
  /** Undefined: seen, but nothing of it could be verified. */
  readonly peer: Peer | undefined
  readonly lastSeen: number
}

export type { AgentRecord, DirectoryQuery }
