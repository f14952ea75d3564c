import { randomUUID } from 'node:crypto'
import { type Artifact, isTerminal } from '@shared/a2a/index.ts'
import type { Network, TaskKey } from '../network/index.ts'
import type { Store, Tx } from '../store/index.ts'
import type { Announcements } from './announcements.ts'
import { giveToOperator, itemById, itemsIn, itemView, moveItem } from './inbox-rows.ts'
import { type Journal, taskNotFound } from './journal.ts'
import type { Keeping } from './keeping.ts'
import { Lanes } from './lanes.ts'
import { checkParts, toWireArtifact } from './parts.ts'
import { nameOf } from './records.ts'
import type { Requests } from './requests.ts'
import { judge } from './state-machine.ts'
import { findRow, rowById, type TaskRow } from './task-rows.ts'
import type { FaultPoint, InboxItem, ProviderSide } from './types.ts'
import { taskEnded, type Voice } from './voice.ts'

/** `anet.reason` of a task whose forward may have reached the backend when the node was stopped. */
const outcomeUnknown = 'backend_outcome_unknown'
const outcomeUnknownText =
  'The agent was interrupted while it worked on this. What it did is not known, and it is not done again by itself.'

export interface ProviderParts {
  readonly store: Store
  readonly network: Network
  readonly announcements: Announcements
  readonly journal: Journal
  readonly keeping: Keeping
  readonly voice: Voice
  readonly requests: Requests
  readonly fault: FaultPoint
}

/** The provider's side for forwarders: the queue, and what they say about a task. */
export class Provider implements ProviderSide {
  readonly #parts: ProviderParts
  readonly #lanes = new Lanes()
  readonly #recovered: Promise<void>
  #recoveredNow: () => void = () => {}

  constructor(parts: ProviderParts) {
    this.#parts = parts
    this.#recovered = new Promise((resolve) => {
      this.#recoveredNow = resolve
    })
  }

  /**
   * Ends what a stop of the node left in between: an item that is still being forwarded may have reached its backend,
   * so nobody can say what became of it. It is never forwarded again; the task fails as unverified and stays in the
   * inbox. If the provider had ended the task or asked a question before the stop, the forward is known to have ended.
   */
  async recover(): Promise<void> {
    const { store, journal, voice, fault } = this.#parts
    const interrupted = itemsIn(store.read, 'forwarding')
    if (interrupted.length > 0) {
      const statusOf = (peer: string): ReturnType<Voice['prepare']> =>
        voice.prepare(peer, {
          state: 'TASK_STATE_FAILED',
          message: { messageId: randomUUID(), role: 'ROLE_AGENT', parts: [{ text: outcomeUnknownText }] },
          reason: outcomeUnknown,
          effectStatus: 'UNVERIFIED',
        })
      const statuses = await Promise.all(interrupted.map(({ peer }) => statusOf(peer)))
      await store.write((tx) => {
        for (const [index, item] of interrupted.entries()) {
          const status = statuses[index]
          const row = rowById(tx, item.task)
          if (row === undefined || status === undefined) continue
          if (item.concluded || isTerminal(row.state)) {
            moveItem(tx, item.id, ['forwarding'], 'answered')
            journal.evidence(tx, 'anet.backend.forwarded', row, { item: item.id })
          } else {
            moveItem(tx, item.id, ['forwarding'], 'unverified')
            journal.evidence(tx, 'anet.backend.failed', row, { item: item.id, reason: outcomeUnknown })
            voice.speak(tx, row, status)
          }
          voice.inboxChanged(tx)
        }
        fault('provider.recovered', tx)
      })
    }
    this.#recoveredNow()
  }

  setRouter(router: Parameters<ProviderSide['setRouter']>[0]): void {
    this.#parts.requests.setRouter(router)
  }

  onQueued(listener: (item: InboxItem) => void): () => void {
    return this.#parts.requests.onQueued(listener)
  }

  onCancel(listener: (key: TaskKey) => void): () => void {
    return this.#parts.requests.onCancel(listener)
  }

  queued(): readonly InboxItem[] {
    return itemsIn(this.#parts.store.read, 'queued').map(itemView)
  }

  async startForward(item: InboxItem): Promise<boolean> {
    const { store, journal, voice, fault } = this.#parts
    await this.#recovered
    const started = await store.write((tx) => {
      const row = this.#rowOf(tx, item)
      if (isTerminal(row.state) || !moveItem(tx, item.id, ['queued'], 'forwarding')) return false
      journal.evidence(tx, 'anet.backend.started', row, { item: item.id })
      voice.inboxChanged(tx)
      fault('provider.forwarding', tx)
      return true
    })
    if (started) fault('provider.forward_committed')
    return started
  }

  async releaseForward(item: InboxItem): Promise<void> {
    const { store, voice } = this.#parts
    await store.write((tx) => {
      const ended = isTerminal(this.#rowOf(tx, item).state)
      if (moveItem(tx, item.id, ['forwarding'], ended ? 'answered' : 'queued')) voice.inboxChanged(tx)
    })
  }

  async endForward(item: InboxItem, outcome: Parameters<ProviderSide['endForward']>[1]): Promise<void> {
    const { store, journal, voice, fault } = this.#parts
    await store.write((tx) => {
      const row = this.#rowOf(tx, item)
      const before = itemById(tx, item.id)
      if (before?.state !== 'forwarding' && before?.state !== 'queued') return
      const failed = outcome.result === 'failed' ? outcome : undefined
      // a forward that ended without a word about the task leaves it to the operator: somebody has to answer
      const isOpen = !isTerminal(row.state) && !before.concluded
      const handOver = failed !== undefined && isOpen
      moveItem(tx, item.id, ['forwarding', 'queued'], handOver ? 'waiting' : 'answered')
      if (handOver) giveToOperator(tx, item.id)
      const data = { item: item.id, ...(failed === undefined ? {} : { reason: failed.reason }) }
      journal.evidence(tx, failed === undefined ? 'anet.backend.forwarded' : 'anet.backend.failed', row, data)
      if (handOver && row.state === 'TASK_STATE_SUBMITTED') {
        voice.say(tx, row, { state: row.state, reason: 'waiting_for_operator' })
      }
      voice.inboxChanged(tx)
      fault('provider.forwarded', tx)
    })
  }

  status(key: TaskKey, status: Parameters<ProviderSide['status']>[1]): Promise<void> {
    const { store, voice, keeping, fault } = this.#parts
    return this.#inLane(key, async (row) => {
      const prepared = await voice.prepare(row.peer, status)
      try {
        await store.write((tx) => void voice.speak(tx, this.#parts.journal.row(tx, key, 'in'), prepared))
      } catch (error) {
        if (prepared.kept !== undefined) await keeping.discard(prepared.kept)
        throw error
      }
      fault('provider.said')
    })
  }

  artifact(key: TaskKey, update: Parameters<ProviderSide['artifact']>[1]): Promise<void> {
    const { store, network, keeping, journal, fault } = this.#parts
    return this.#inLane(key, async ({ peer }) => {
      checkParts(update.artifact.parts)
      const { append, lastChunk } = update
      const wire = toWireArtifact(update.artifact)
      const kept = await keeping.artifact(wire)
      try {
        const body = await network.prepareBody('task.artifact', { artifact: wire, append, lastChunk })
        await store.write((tx) => {
          const row = journal.row(tx, key, 'in')
          if (judge(row.state, { by: 'provider', what: 'artifact' }).kind === 'late') throw taskEnded(row)
          keeping.hold(tx, kept)
          journal.artifact(tx, row, { artifact: kept.value, append, lastChunk })
          network.enqueue(tx, { to: peer, type: 'task.artifact', task: key, body })
        })
      } catch (error) {
        await keeping.discard(kept)
        throw error
      }
      fault('provider.artifact')
    })
  }

  preview(key: TaskKey, artifact: Artifact): void {
    const { store, network, announcements } = this.#parts
    const row = findRow(store.read, key)
    if (row?.direction !== 'in' || isTerminal(row.state)) return
    network.sendPreview(row.peer, key, { artifact: toWireArtifact(artifact) })
    announcements.previewed({ key, artifact })
  }

  /** Resolves when nothing is being said any more. */
  idle(): Promise<void> {
    return this.#lanes.idle()
  }

  /** A large artifact must not be overtaken by the status that follows it. */
  #inLane(key: TaskKey, work: (row: TaskRow) => Promise<void>): Promise<void> {
    return this.#lanes.run(nameOf(key), async () => {
      const row = findRow(this.#parts.store.read, key)
      if (row?.direction !== 'in') throw taskNotFound(key.id)
      await work(row)
    })
  }

  #rowOf(tx: Tx, item: InboxItem): TaskRow {
    return this.#parts.journal.row(tx, item.key, 'in')
  }
}
