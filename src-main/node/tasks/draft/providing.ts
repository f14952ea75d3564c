import {
  type Artifact,
  isTerminal,
  type Message,
  type Part,
  type TaskState,
  type TaskStatus,
} from '@shared/a2a/index.ts'
import { AnetError } from '@shared/errors.ts'
import { randomUUID } from 'node:crypto'
import type { Body } from '@shared/wire/index.ts'
import type { Network, PreparedBody, TaskKey } from '../../network/index.ts'
import type { Tx } from '../../store/index.ts'
import type { TaskBook } from './book.ts'
import { taskNotFound } from './entries.ts'
import type { InboxTable } from './inbox-table.ts'
import {
  checkParts,
  keepFiles,
  type PreparedParts,
  storedArtifact,
  storedMessage,
  storeParts,
  wireArtifact,
  wireMessage,
} from './parts.ts'
import { findTask, type TaskRow } from './rows.ts'
import type { EffectStatus } from '@shared/a2a/index.ts'
import type { FaultPoint, InboundPolicy, InboxItem, TaskSummary } from '../types.ts'

export interface ProvidingOptions {
  readonly book: TaskBook
  readonly network: Network
  readonly inbox: InboxTable
  readonly policy: InboundPolicy
  readonly fault: FaultPoint
}

export interface StatusInput {
  readonly state: TaskState
  readonly message?: Message
  readonly reason?: string
  readonly effectStatus?: EffectStatus
}

const evidenceOf: Partial<Record<TaskState, string>> = {
  TASK_STATE_COMPLETED: 'task.completed',
  TASK_STATE_FAILED: 'task.failed',
  TASK_STATE_CANCELED: 'task.canceled',
  TASK_STATE_REJECTED: 'task.rejected',
}

/** The provider's side of tasks that peers opened: what the node, its backend or its operator answers. */
export class Providing {
  readonly #options: ProvidingOptions

  constructor(options: ProvidingOptions) {
    this.#options = options
  }

  /** Durable when it resolves: entry, state and outbox in one transaction. A task that has ended stays as it is. */
  async status(key: TaskKey, input: StatusInput): Promise<void> {
    const write = await this.prepareStatus(key, input)
    await this.#options.book.store.write((tx) => void write(tx))
    this.#options.fault('provide.status')
  }

  /** Does the slow part of a status and returns what belongs into the transaction. */
  async prepareStatus(key: TaskKey, input: StatusInput): Promise<(tx: Tx) => TaskRow | undefined> {
    const { book, network, policy } = this.#options
    const peer = this.#rowOf(key).peer
    const now = book.clock.now()
    const parts = input.message === undefined ? undefined : await storeParts(book.store.content, input.message.parts)
    const { listed } = policy.decide(peer)
    const body: PreparedBody<'task.status'> = await network.prepareBody('task.status', {
      state: input.state,
      at: now,
      listed,
      ...(input.message === undefined ? {} : { message: wireMessage(input.message) }),
      ...(input.reason === undefined ? {} : { reason: input.reason }),
      ...(input.effectStatus === undefined ? {} : { effectStatus: input.effectStatus }),
    } satisfies Body<'task.status'>)
    return (tx) => this.#writeStatus(tx, key, input, parts, body, now)
  }

  async artifact(key: TaskKey, update: { artifact: Artifact; append: boolean; lastChunk: boolean }): Promise<void> {
    const { book, network, fault } = this.#options
    checkParts(update.artifact.parts)
    const parts = await storeParts(book.store.content, update.artifact.parts)
    const { artifact, append, lastChunk } = update
    const body = await network.prepareBody('task.artifact', { artifact: wireArtifact(artifact), append, lastChunk })
    await book.store.write((tx) => {
      const row = findTask(tx, key)
      if (row === undefined || isTerminal(row.state)) return
      keepFiles(tx, book.store.content, parts.files)
      const { parts: _parts, ...about } = artifact
      book.append(tx, row, {
        at: book.clock.now(),
        kind: 'artifact',
        artifact: storedArtifact(about, parts.parts),
        append,
        lastChunk,
      })
      network.enqueue(tx, { to: row.peer, type: 'task.artifact', task: key, body })
    })
    fault('provide.artifact')
  }

  preview(key: TaskKey, artifact: Artifact): void {
    const { book, network } = this.#options
    const row = book.row(key)
    if (row === undefined || isTerminal(row.state)) return
    network.sendPreview(row.peer, key, { artifact: wireArtifact(artifact) })
  }

  /** Commits "forward started" before a byte goes out: what is found so after a kill is never repeated. */
  async startForward(item: InboxItem): Promise<boolean> {
    const { book, inbox, fault } = this.#options
    const started = await book.store.write((tx) => {
      const row = findTask(tx, item.key)
      if (row === undefined || isTerminal(row.state)) return false
      if (!inbox.move(tx, item.id, ['queued'], 'forwarding')) return false
      book.store.evidence.append(tx, 'anet.backend.forward_started', { item: item.id }, item.key)
      return true
    })
    fault('forward.started')
    return started
  }

  async releaseForward(item: InboxItem): Promise<void> {
    const { book, inbox } = this.#options
    await book.store.write((tx) => void inbox.move(tx, item.id, ['forwarding'], 'queued'))
  }

  async endForward(
    item: InboxItem,
    outcome: { result: 'forwarded' } | { result: 'failed'; reason: string; handOver?: boolean },
  ): Promise<void> {
    const { book, inbox, fault } = this.#options
    await book.store.write((tx) => {
      const handOver = outcome.result === 'failed' && outcome.handOver === true
      if (!inbox.move(tx, item.id, ['forwarding', 'queued'], handOver ? 'waiting' : 'answered')) return
      if (outcome.result === 'forwarded')
        book.store.evidence.append(tx, 'anet.backend.forwarded', { item: item.id }, item.key)
      else book.store.evidence.append(tx, 'anet.backend.failed', { item: item.id, reason: outcome.reason }, item.key)
    })
    fault('forward.ended')
  }

  /** After a start: what a kill left with a backend ends, visibly, and is not repeated. */
  async closeInterrupted(): Promise<void> {
    const { book, inbox } = this.#options
    for (const item of inbox.inState(book.store.read, 'forwarding')) {
      const write = await this.prepareStatus(item.key, {
        state: 'TASK_STATE_FAILED',
        reason: 'backend_outcome_unknown',
        effectStatus: 'UNVERIFIED',
      })
      await book.store.write((tx) => {
        if (!inbox.move(tx, item.id, ['forwarding'], 'unverified')) return
        book.store.evidence.append(
          tx,
          'anet.backend.failed',
          { item: item.id, reason: 'backend_outcome_unknown' },
          item.key,
        )
        write(tx)
      })
    }
  }

  /** The operator's answer to an item: files and text, and what becomes of the task. */
  async answer(
    id: number,
    answer: { kind: 'complete' | 'reply' | 'ask' | 'refuse'; parts: readonly Part[] },
  ): Promise<TaskSummary> {
    const { book, inbox } = this.#options
    const item = inbox.get(book.store.read, id)
    if (item === undefined)
      throw new AnetError('inbox_item_not_found', 'There is no such item in the inbox.', {
        remedy: 'See: anet inbox list',
      })
    checkParts(answer.parts)
    const message: Message | undefined =
      answer.parts.length === 0
        ? undefined
        : { messageId: randomUUID(), role: 'ROLE_AGENT', taskId: item.key.id, parts: [...answer.parts] }
    const states = {
      complete: 'TASK_STATE_COMPLETED',
      reply: 'TASK_STATE_WORKING',
      ask: 'TASK_STATE_INPUT_REQUIRED',
      refuse: 'TASK_STATE_REJECTED',
    } as const
    const write = await this.prepareStatus(item.key, {
      state: states[answer.kind],
      ...(message === undefined ? {} : { message }),
      ...(answer.kind === 'refuse' ? { reason: 'refused_by_operator' } : {}),
    })
    const row = await book.store.write((tx) => {
      // a reply that keeps the task open keeps the item open too: the work is still to be done
      const next = answer.kind === 'reply' ? 'waiting' : 'answered'
      if (!inbox.move(tx, id, ['waiting', 'awaiting_admission'], next)) {
        throw new AnetError('inbox_item_closed', 'This item was answered already.')
      }
      const after = write(tx)
      if (after !== undefined && isTerminal(after.state)) inbox.closeAll(tx, after.row)
      return after
    })
    return book.summarise(row ?? this.#rowOf(item.key))
  }

  #writeStatus(
    tx: Tx,
    key: TaskKey,
    input: StatusInput,
    parts: PreparedParts | undefined,
    body: PreparedBody<'task.status'>,
    now: number,
  ): TaskRow | undefined {
    const { book, network } = this.#options
    const row = findTask(tx, key)
    if (row === undefined || isTerminal(row.state)) return row
    if (parts !== undefined) keepFiles(tx, book.store.content, parts.files)
    const { message } = input
    const status: TaskStatus = { state: input.state, timestamp: new Date(now).toISOString() }
    const said =
      message === undefined || parts === undefined
        ? {}
        : { message: storedMessage({ ...without(message), taskId: row.task, contextId: row.context }, parts.parts) }
    const effect = input.effectStatus ?? row.effect
    const after = book.append(
      tx,
      row,
      {
        at: now,
        kind: 'status',
        status: { ...status, ...said },
        ...(input.reason === undefined ? {} : { reason: input.reason }),
        ...(effect === null ? {} : { effectStatus: effect }),
      },
      { state: input.state, reason: input.reason ?? null, effect, status_at: now },
    )
    network.enqueue(tx, { to: row.peer, type: 'task.status', task: key, body })
    const kind = evidenceOf[input.state]
    if (kind !== undefined) book.store.evidence.append(tx, kind, { peer: row.peer }, key)
    return after
  }

  #rowOf(key: TaskKey): TaskRow {
    const row = this.#options.book.row(key)
    if (row === undefined) throw taskNotFound()
    return row
  }
}

function without(message: Message): Omit<Message, 'parts'> {
  const { parts: _parts, ...rest } = message
  return rest
}
