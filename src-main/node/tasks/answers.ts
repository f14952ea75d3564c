import { randomUUID } from 'node:crypto'
import { isTerminal } from '@shared/a2a/index.ts'
import { AnetError } from '@shared/errors.ts'
import type { Aid } from '@shared/wire/index.ts'
import type { Network, Received, TaskKey } from '../network/index.ts'
import type { Clock } from '../ports.ts'
import type { Store, Tx } from '../store/index.ts'
import type { Announcements } from './announcements.ts'
import { type Journal, type StatusChange, taskNotFound } from './journal.ts'
import { inlineArtifact, inlineMessage, type Keeping, type Kept } from './keeping.ts'
import { fromWirePart } from './parts.ts'
import { hubUnreachable } from './sender.ts'
import { judge } from './state-machine.ts'
import { findRow, type TaskRow } from './task-rows.ts'
import type { FaultPoint, StoredArtifact, StoredMessage } from './types.ts'

export interface AnswersParts {
  readonly store: Store
  readonly network: Network
  readonly journal: Journal
  readonly keeping: Keeping
  readonly announcements: Announcements
  readonly clock: Clock
  readonly fault: FaultPoint
}

/** What providers answer to the tasks of this node: statuses, artifacts, previews and refusals. */
export class Answers {
  readonly #parts: AnswersParts

  constructor(parts: AnswersParts) {
    this.#parts = parts
    const { network, keeping } = parts
    network.on<'task.status', Kept<StoredMessage> | undefined>(
      'task.status',
      (tx, message, kept) => keeping.useOrDiscard(kept, () => this.#status(tx, message, kept)),
      async (message) =>
        this.#isOpen(message) && message.body.message !== undefined
          ? await keeping.message(message.body.message)
          : undefined,
    )
    network.on<'task.artifact', Kept<StoredArtifact> | undefined>(
      'task.artifact',
      (tx, message, kept) => keeping.useOrDiscard(kept, () => this.#artifact(tx, message, kept)),
      async (message) => (this.#isOpen(message) ? await keeping.artifact(message.body.artifact) : undefined),
    )
    network.on('refusal', (tx, message) => this.#refusal(tx, message))
    network.on('task.preview', (tx, message) => this.#preview(tx, message))
    network.onProgress((tx, progress) => this.#progress(tx, progress))
  }

  /** Whether this provider said that this node is on its lists; undefined if it has never said anything. */
  listedBy(peer: Aid): boolean | undefined {
    const row = this.#parts.store.read.get<{ listed: number }>('SELECT listed FROM task_listed WHERE peer = ?', peer)
    return row === undefined ? undefined : row.listed === 1
  }

  /** True if what was prepared is referred to. */
  #status(tx: Tx, received: Received<'task.status'>, prepared: Kept<StoredMessage> | undefined): boolean {
    const { keeping, fault } = this.#parts
    const { body } = received
    const row = this.#rowOf(tx, received)
    this.#learnListed(tx, row.peer, body.listed)
    const kept = this.#keptOf(row, body.message, prepared)
    if (kept !== undefined) keeping.hold(tx, kept)
    const reason = reasonCode(body.reason)
    this.#apply(tx, row, {
      state: body.state,
      ...(kept === undefined ? {} : { message: kept.value }),
      ...(reason === undefined ? {} : { reason }),
      ...(body.effectStatus === undefined ? {} : { effectStatus: body.effectStatus }),
    })
    fault('answer.status', tx)
    return kept !== undefined
  }

  #artifact(tx: Tx, received: Received<'task.artifact'>, prepared: Kept<StoredArtifact> | undefined): boolean {
    const { journal, keeping, fault } = this.#parts
    const row = this.#rowOf(tx, received)
    if (judge(row.state, { by: 'provider', what: 'artifact' }).kind === 'late') {
      journal.late(tx, row, 'artifact')
      return false
    }
    const kept = prepared ?? inlineArtifact(received.body.artifact)
    keeping.hold(tx, kept)
    const { append, lastChunk } = received.body
    journal.artifact(tx, journal.accepted(tx, row), { artifact: kept.value, append, lastChunk })
    fault('answer.artifact', tx)
    return true
  }

  #refusal(tx: Tx, received: Received<'refusal'>): void {
    const { body } = received
    const row = this.#rowOf(tx, received)
    this.#learnListed(tx, row.peer, body.listed)
    const reason = reasonCode(body.reason)
    const message: StoredMessage | undefined =
      body.text === undefined || body.text === ''
        ? undefined
        : { messageId: randomUUID(), role: 'ROLE_AGENT', parts: [{ text: body.text }] }
    this.#apply(tx, row, {
      state: 'TASK_STATE_REJECTED',
      ...(message === undefined ? {} : { message }),
      ...(reason === undefined ? {} : { reason }),
    })
    this.#parts.fault('answer.refusal', tx)
  }

  /** Previews change nothing: who listens sees them. */
  #preview(tx: Tx, received: Received<'task.preview'>): void {
    const row = this.#rowOf(tx, received)
    if (isTerminal(row.state)) return
    const { artifact: wire } = received.body
    const artifact = { ...wire, parts: wire.parts.map(fromWirePart) }
    tx.afterCommit(() => this.#parts.announcements.previewed({ key: row.key, artifact }))
  }

  #apply(tx: Tx, row: TaskRow, change: StatusChange): void {
    const { journal } = this.#parts
    const verdict = judge(row.state, { by: 'provider', what: 'status', state: change.state })
    if (verdict.kind === 'refused') throw new AnetError(verdict.code, verdict.why)
    if (verdict.kind === 'late') {
      journal.late(tx, row, 'status', change.state)
      return
    }
    const takes = change.state !== 'TASK_STATE_REJECTED' && change.reason !== 'awaiting_admission'
    journal.status(tx, takes ? journal.accepted(tx, row) : row, change)
  }

  /** The opening message has left this node, or the provider has it. */
  #progress(tx: Tx, { task, kind }: Parameters<Parameters<Network['onProgress']>[0]>[1]): void {
    const { journal } = this.#parts
    const row = findRow(tx, task)
    if (row?.direction !== 'out') return
    if (kind === 'delivered') journal.evidence(tx, 'task.delivered', row)
    const waits = row.state === 'TASK_STATE_SUBMITTED' && row.reason === hubUnreachable
    if (waits) journal.status(tx, row, { state: row.state })
  }

  #keptOf(
    row: TaskRow,
    message: Received<'task.status'>['body']['message'],
    prepared: Kept<StoredMessage> | undefined,
  ): Kept<StoredMessage> | undefined {
    // what comes late is not kept, so nobody prepared it
    if (message === undefined || isTerminal(row.state)) return undefined
    return prepared ?? inlineMessage(message)
  }

  #isOpen({ task, from }: { readonly task: TaskKey | undefined; readonly from: Aid }): boolean {
    const row = task === undefined ? undefined : findRow(this.#parts.store.read, task)
    return row?.direction === 'out' && row.peer === from && !isTerminal(row.state)
  }

  #rowOf(tx: Tx, { task, from }: { readonly task: TaskKey | undefined; readonly from: Aid }): TaskRow {
    const row = task === undefined ? undefined : findRow(tx, task)
    if (row?.direction !== 'out' || row.peer !== from) throw taskNotFound(task?.id ?? '')
    return row
  }

  #learnListed(tx: Tx, peer: Aid, listed: boolean | undefined): void {
    if (listed === undefined) return
    tx.run(
      `INSERT INTO task_listed (peer, listed, at) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET listed = excluded.listed, at = excluded.at WHERE listed <> excluded.listed`,
      peer,
      Number(listed),
      this.#parts.clock.now(),
    )
  }
}

/** Reasons are codes and lie in the clear; a peer that writes a text there says nothing. */
function reasonCode(reason: string | undefined): string | undefined {
  return reason !== undefined && /^[a-z][a-z0-9_.]{0,63}$/.test(reason) ? reason : undefined
}
