import type {
  Artifact,
  EffectStatus,
  JsonObject,
  Message,
  Part,
  ReceiptStatus,
  TaskState,
  TaskStatus,
} from '@shared/a2a/index.ts'
import type { Aid } from '@shared/wire/index.ts'
import type { TaskKey } from '../network/index.ts'
import type { Unsubscribe } from '../ports.ts'
import type { FileRef, Tx } from '../store/index.ts'

/** A part as it is kept: content over the inline limit is replaced by a reference to a sealed file. */
export type StoredPart = Part | LargePart
export interface LargePart {
  /**
   * `file.size` and `file.sha256` are those of the part's content. Small parts share a file: `within` then holds the size
   * and digest of the whole file and where the part begins in it. Read parts with `Tasks.materialise`.
   */
  readonly large: {
    readonly field: 'text' | 'raw' | 'data'
    readonly file: FileRef
    readonly within?: { readonly size: number; readonly sha256: string; readonly offset: number }
  }
  readonly metadata?: JsonObject
  readonly filename?: string
  readonly mediaType?: string
}
export type StoredMessage = Omit<Message, 'parts'> & { readonly parts: readonly StoredPart[] }
export type StoredArtifact = Omit<Artifact, 'parts'> & { readonly parts: readonly StoredPart[] }
export type StoredStatus = Omit<TaskStatus, 'message'> & { readonly message?: StoredMessage }

/**
 * What happened on a task, in order; the timeline of the window and the updates of a stream. `seq` is the task's
 * `anet.state_seq` after the entry: each entry raises it by one.
 */
export type TaskEntry =
  | {
      readonly seq: number
      readonly at: number
      readonly kind: 'message'
      readonly from: 'requester' | 'provider'
      /** Who sent it on this node: `SendInput.client`. */
      readonly client?: string
      readonly message: StoredMessage
    }
  | {
      readonly seq: number
      readonly at: number
      readonly kind: 'status'
      readonly status: StoredStatus
      readonly reason?: string
      readonly effectStatus?: EffectStatus
    }
  | {
      readonly seq: number
      readonly at: number
      readonly kind: 'artifact'
      readonly artifact: StoredArtifact
      readonly append: boolean
      readonly lastChunk: boolean
    }
  | { readonly seq: number; readonly at: number; readonly kind: 'cancel' }

/** The task without its contents: cheap to list. Times in milliseconds since 1970. */
export interface TaskSummary {
  readonly key: TaskKey
  /** `out`: this node asked. `in`: a peer asked this node. */
  readonly direction: 'out' | 'in'
  readonly peer: Aid
  readonly contextId: string
  readonly state: TaskState
  readonly stateSeq: number
  readonly reason: string | undefined
  readonly effectStatus: EffectStatus | undefined
  readonly receipt: ReceiptStatus
  readonly createdAt: number
  readonly updatedAt: number
  /** Time of the newest status: what ListTasks sorts by. */
  readonly statusAt: number
  /** First 120 characters of the first text part. */
  readonly title: string
  readonly cancelRequested: boolean
  /** True while the peer has not confirmed something for 15 minutes. */
  readonly unconfirmed: boolean
}

/** The task with everything in it, as assembled from its entries. */
export interface TaskRecord extends TaskSummary {
  readonly status: StoredStatus
  readonly history: readonly StoredMessage[]
  readonly artifacts: readonly StoredArtifact[]
}

export interface SendInput {
  readonly agent: Aid
  /** As the client sent it: `contextId` and `taskId` present or not. */
  readonly message: Message
  /** Who sends, for the timeline: a client's name or `window`, `cli`. Never a secret. */
  readonly client?: string
}

export interface SendResult {
  readonly task: TaskSummary
  /** True if this message was known: nothing was sent (spec/a2a-endpoint.md, Idempotency). */
  readonly repeated: boolean
}

export type TaskUpdate = { readonly task: TaskSummary; readonly entry: TaskEntry }
/** A reply still being written; never part of the task. */
export interface TaskPreview {
  readonly key: TaskKey
  readonly artifact: StoredArtifact
}

export interface TaskQuery {
  readonly direction?: 'out' | 'in'
  readonly peer?: Aid
  readonly contextId?: string
  readonly state?: TaskState | 'open'
  /** statusAt >= this. */
  readonly statusSince?: number
  readonly text?: string
  readonly cursor?: string
  /** 1 to 200. */
  readonly limit: number
}

export interface TaskPage {
  readonly tasks: readonly TaskSummary[]
  /** Empty on the last page. */
  readonly nextCursor: string
  readonly total: number
}

/** Errors of the task layer: `task_not_found`, `task_terminal`, `task_not_cancelable`, `context_mismatch`, `not_registered`,
 * `unknown_agent`, `part_url_refused`, `part_too_large`, `message_too_large`, `content_too_deep`, `task_busy`,
 * `state_not_allowed`, `bad_cursor`, `inbox_item_not_found`, `nothing_to_say`. */
export interface Tasks {
  /** Opens a task or continues one; durable when it resolves. The idempotency look-up comes before every other check. */
  send(input: SendInput): Promise<SendResult>
  summary(key: TaskKey): TaskSummary | undefined
  /** Of a local task id given by a person: own tasks first, then a unique one of a peer. */
  find(id: string): TaskSummary | undefined
  get(key: TaskKey): TaskRecord | undefined
  entries(key: TaskKey, afterSeq?: number): readonly TaskEntry[]
  list(query: TaskQuery): TaskPage
  /** Asks the provider to cancel (own tasks) or cancels (tasks of peers). Repeating has the same effect. */
  cancel(key: TaskKey, metadata?: JsonObject): Promise<TaskSummary>
  /** Snapshot and subscription in one step: `onUpdate` gets every entry with a seq above the snapshot's, in order. */
  subscribe(
    key: TaskKey,
    listener: { onUpdate(update: TaskUpdate): void; onPreview?(preview: TaskPreview): void },
  ): { readonly task: TaskRecord; readonly close: Unsubscribe } | undefined
  /** Resolves at a terminal or interrupted state, or when aborted. Waits on state_seq, polls nothing. */
  settled(key: TaskKey, signal?: AbortSignal): Promise<TaskSummary>
  /** Every change of every task, for slices and notifications. */
  onChange(listener: (update: TaskUpdate) => void): Unsubscribe
  /** Previews of every task, as they come: for the window. Best effort. */
  onPreview(listener: (preview: TaskPreview) => void): Unsubscribe
  /** Whether this provider said that this node is on its trust or allow list; undefined if it has never said anything. */
  listedBy(peer: Aid): boolean | undefined
  /** Fills large parts in again: for GetTask, for saving a file, for a backend. */
  materialise(part: StoredPart): Promise<Part>
  readonly provider: ProviderSide
  readonly inbox: Inbox
  start(): Promise<void>
  stop(): Promise<void>
}

/** What a peer asked for and this node accepted. One item for each message of the peer. */
export interface InboxItem {
  readonly id: number
  readonly key: TaskKey
  readonly peer: Aid
  readonly seq: number
  readonly receivedAt: number
  /**
   * `queued` for a forwarder; `forwarding`: may have reached the backend; `waiting` for the operator; `awaiting_admission`
   * (policy approve); `answered`; `unverified`: what the backend did is unknown (kill in between), never repeated.
   */
  readonly state: 'queued' | 'forwarding' | 'waiting' | 'awaiting_admission' | 'answered' | 'unverified'
  readonly trusted: boolean
}

export interface ProviderSide {
  /**
   * Decides, inside the transaction that accepts a message, whether a forwarder takes it (`queued`) or the operator
   * (`waiting`). Called once per accepted message; without a router all wait.
   */
  setRouter(
    router: (item: {
      peer: Aid
      trusted: boolean
      message: StoredMessage
      firstOfTask: boolean
      /** Of a later message: whether a forwarder was given an earlier one of this task. */
      wasForwarded?: boolean
    }) => 'queued' | 'waiting',
  ): void
  /** After commit: an item is queued, or the peer asked to cancel. */
  onQueued(listener: (item: InboxItem) => void): Unsubscribe
  onCancel(listener: (key: TaskKey) => void): Unsubscribe
  queued(): readonly InboxItem[]
  /** Commits "forward started" with its evidence before the first byte goes out. False if somebody else took it. */
  startForward(item: InboxItem): Promise<boolean>
  /** Back to the queue: only if the message cannot have reached the backend. */
  releaseForward(item: InboxItem): Promise<void>
  /** The forward ended: evidence anet.backend.forwarded or .failed. `hand-over`: to the operator. */
  endForward(
    item: InboxItem,
    outcome: { result: 'forwarded' } | { result: 'failed'; reason: string; handOver?: boolean },
  ): Promise<void>
  status(
    key: TaskKey,
    status: { state: TaskState; message?: Message; reason?: string; effectStatus?: EffectStatus },
  ): Promise<void>
  artifact(key: TaskKey, update: { artifact: Artifact; append: boolean; lastChunk: boolean }): Promise<void>
  preview(key: TaskKey, artifact: Artifact): void
}

export interface Inbox {
  list(query: { state?: 'open' | 'all'; cursor?: string; limit: number }): {
    readonly items: readonly InboxItem[]
    readonly nextCursor: string
    readonly open: number
  }
  get(id: number): InboxItem | undefined
  /** complete: answers and completes; reply: answers and goes on working; ask: input-required; refuse: rejects or fails. */
  answer(
    id: number,
    answer: { kind: 'complete' | 'reply' | 'ask' | 'refuse'; parts: readonly Part[] },
  ): Promise<TaskSummary>
  onChange(listener: () => void): Unsubscribe
}

/** Who may send what (config `inbound` and `peers`). Read anew for each message. */
export interface InboundPolicy {
  decide(peer: Aid): {
    readonly verdict: 'accept' | 'ask' | 'refuse'
    readonly trusted: boolean
    readonly listed: boolean
  }
}

/** A hook of the tests: called at each durable step with its name; kills the process there when told to. */
export type FaultPoint = (name: string, tx?: Tx) => void
