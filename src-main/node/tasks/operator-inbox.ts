import { randomUUID } from 'node:crypto'
import { isTerminal, type Part } from '@shared/a2a/index.ts'
import { AnetError } from '@shared/errors.ts'
import type { Network, PreparedBody } from '../network/index.ts'
import type { Unsubscribe } from '../ports.ts'
import type { Store, Tx } from '../store/index.ts'
import { countOpenItems, giveToOperator, itemById, itemPage, type ItemRow, itemView, moveItem } from './inbox-rows.ts'
import { type Journal, taskNotFound } from './journal.ts'
import type { Keeping, Kept } from './keeping.ts'
import { checkParts, toWireArtifact } from './parts.ts'
import type { Records } from './records.ts'
import { rowById, type TaskRow } from './task-rows.ts'
import type { FaultPoint, Inbox, InboxItem, StoredArtifact, TaskSummary } from './types.ts'
import { type PreparedStatus, type SpokenStatus, taskEnded, type Voice } from './voice.ts'

export interface OperatorInboxParts {
  readonly store: Store
  readonly network: Network
  readonly journal: Journal
  readonly records: Records
  readonly keeping: Keeping
  readonly voice: Voice
  readonly fault: FaultPoint
}

type Answer = Parameters<Inbox['answer']>[1]

/** The reply of a completion, ready to be written and sent. */
interface PreparedReply {
  readonly kept: Kept<StoredArtifact>
  readonly body: PreparedBody<'task.artifact'>
}

/** What waits for the operator, and the operator's answers (spec/provider.md, Inbox). */
export class OperatorInbox implements Inbox {
  readonly #parts: OperatorInboxParts

  constructor(parts: OperatorInboxParts) {
    this.#parts = parts
  }

  /** Newest first. `open`: everything that is not answered, what is being forwarded included. Errors: `bad_cursor`. */
  list(query: Parameters<Inbox['list']>[0]): ReturnType<Inbox['list']> {
    const { read } = this.#parts.store
    const { limit } = query
    const before = cursorValue(query.cursor)
    const rows = itemPage(read, { open: query.state !== 'all', before, limit: limit + 1 })
    const items = rows.slice(0, limit).map(itemView)
    const last = items.at(-1)
    return {
      items,
      nextCursor: rows.length > limit && last !== undefined ? String(last.id) : '',
      open: countOpenItems(read),
    }
  }

  get(id: number): InboxItem | undefined {
    const row = itemById(this.#parts.store.read, id)
    return row === undefined ? undefined : itemView(row)
  }

  onChange(listener: () => void): Unsubscribe {
    return this.#parts.voice.onInboxChange(listener)
  }

  /**
   * `complete` sends the parts as the artifact "reply" and completes the task; `reply` sends them and goes on working,
   * so that the item stays open; `ask` asks them; `refuse` rejects a task that nobody has begun and fails one that was
   * begun. Any answer but a refusal admits a task that waited for it. Answering an item that a forwarder has queued
   * takes it over. An item whose outcome is unknown can only be put away, without parts. Errors:
   * `inbox_item_not_found`, `task_busy` (a backend works on it), `task_terminal`, `nothing_to_say`, those of checkParts.
   */
  async answer(id: number, answer: Answer): Promise<TaskSummary> {
    const { store, keeping, records, fault } = this.#parts
    const { item, row } = this.#answerable(id)
    if (item.state === 'unverified') return await this.#putAway(item, row, answer)
    const isCompletion = answer.kind === 'complete'
    const reply = isCompletion && answer.parts.length > 0 ? await this.#prepareReply(answer.parts) : undefined
    try {
      const status = await this.#parts.voice.prepare(item.peer, statusFor(row, answer))
      try {
        await store.write((tx) => this.#write(tx, item, answer, { reply, status }))
      } catch (error) {
        if (status.kept !== undefined) await keeping.discard(status.kept)
        throw error
      }
    } catch (error) {
      if (reply !== undefined) await keeping.discard(reply.kept)
      throw error
    }
    fault('inbox.answered')
    return records.summary(item.key) ?? records.summaryOf(row)
  }

  #write(
    tx: Tx,
    { id }: ItemRow,
    answer: Answer,
    prepared: { readonly reply: PreparedReply | undefined; readonly status: PreparedStatus },
  ): void {
    const { network, journal, keeping, voice, fault } = this.#parts
    const { item, row: before } = this.#answerable(id, tx)
    const { reply, status } = prepared
    let row = answer.kind === 'refuse' ? before : journal.accepted(tx, before)
    if (reply !== undefined) {
      keeping.hold(tx, reply.kept)
      row = journal.artifact(tx, row, { artifact: reply.kept.value, append: false, lastChunk: true })
      network.enqueue(tx, { to: row.peer, type: 'task.artifact', task: row.key, body: reply.body })
    }
    giveToOperator(tx, item.id)
    moveItem(tx, item.id, [item.state], answer.kind === 'reply' ? 'waiting' : 'answered')
    voice.speak(tx, row, status)
    voice.inboxChanged(tx)
    fault('inbox.written', tx)
  }

  async #prepareReply(parts: readonly Part[]): Promise<PreparedReply> {
    const { network, keeping } = this.#parts
    checkParts(parts)
    const wire = toWireArtifact({ artifactId: 'reply', name: 'Reply', parts: [...parts] })
    const kept = await keeping.artifact(wire)
    try {
      const body = await network.prepareBody('task.artifact', { artifact: wire, append: false, lastChunk: true })
      return { kept, body }
    } catch (error) {
      await keeping.discard(kept)
      throw error
    }
  }

  async #putAway(item: ItemRow, row: TaskRow, answer: Answer): Promise<TaskSummary> {
    const { store, voice, records } = this.#parts
    if (answer.parts.length > 0) throw taskEnded(row)
    await store.write((tx) => {
      if (moveItem(tx, item.id, ['unverified'], 'answered')) voice.inboxChanged(tx)
    })
    return records.summaryOf(row)
  }

  #answerable(id: number, db: Tx | Store['read'] = this.#parts.store.read): { item: ItemRow; row: TaskRow } {
    const item = itemById(db, id)
    if (item === undefined) {
      throw new AnetError('inbox_item_not_found', `The inbox has no item ${id}.`, {
        remedy: 'List the inbox with "anet inbox list".',
      })
    }
    const row = rowById(db, item.task)
    if (row === undefined) throw taskNotFound(item.key.id)
    if (item.state === 'unverified') return { item, row }
    if (isTerminal(row.state)) throw taskEnded(row)
    if (item.state === 'forwarding') {
      throw new AnetError('task_busy', `A backend is working on task ${row.key.id} at the moment.`, {
        remedy: 'Wait for its answer, or cancel the task.',
      })
    }
    return { item, row }
  }
}

function statusFor(row: TaskRow, { kind, parts }: Answer): SpokenStatus {
  const message =
    parts.length === 0 ? {} : { message: { messageId: randomUUID(), role: 'ROLE_AGENT' as const, parts: [...parts] } }
  switch (kind) {
    case 'complete':
      return { state: 'TASK_STATE_COMPLETED', effectStatus: 'OK' }
    case 'reply':
    case 'ask':
      if (parts.length === 0) throw new AnetError('nothing_to_say', 'This answer needs a text or a file.')
      return { state: kind === 'ask' ? 'TASK_STATE_INPUT_REQUIRED' : 'TASK_STATE_WORKING', ...message }
    case 'refuse':
      return row.state === 'TASK_STATE_SUBMITTED'
        ? { state: 'TASK_STATE_REJECTED', reason: 'refused_by_operator', ...message }
        : { state: 'TASK_STATE_FAILED', reason: 'refused_by_operator', effectStatus: 'FAILED', ...message }
  }
}

function cursorValue(cursor: string | undefined): number {
  if (cursor === undefined || cursor === '') return Number.MAX_SAFE_INTEGER
  if (/^[1-9]\d{0,14}$/.test(cursor)) return Number(cursor)
  throw new AnetError('bad_cursor', 'This cursor does not belong to this listing.', {
    remedy: 'Begin again without a cursor.',
  })
}
