import { isTerminal } from '@shared/a2a/index.ts'
import { AnetError } from '@shared/errors.ts'
import type { Aid, WireMessage } from '@shared/wire/index.ts'
import type { Network, Received, TaskKey } from '../network/index.ts'
import { type Clock, type Log, Topic, type Unsubscribe } from '../ports.ts'
import type { Store, Tx } from '../store/index.ts'
import { insertItem, itemsOfTask, itemView, moveItem } from './inbox-rows.ts'
import { type Journal, taskNotFound } from './journal.ts'
import { inlineMessage, type Keeping, type Kept } from './keeping.ts'
import { judge } from './state-machine.ts'
import { findRow, rowsCanceling, type TaskRow } from './task-rows.ts'
import { titleOf } from './title.ts'
import type { FaultPoint, InboundPolicy, InboxItem, ProviderSide, StoredMessage } from './types.ts'
import type { Voice } from './voice.ts'

type Router = Parameters<ProviderSide['setRouter']>[0]

/** `anet.reason` of a task that the policy does not let in. */
const notAccepting = 'not_accepting'

export interface RequestsParts {
  readonly store: Store
  readonly network: Network
  readonly policy: InboundPolicy
  readonly journal: Journal
  readonly keeping: Keeping
  readonly voice: Voice
  readonly clock: Clock
  readonly log: Log
  readonly fault: FaultPoint
}

/** What peers ask of this node: their tasks, their further messages and their cancels (spec/provider.md). */
export class Requests {
  readonly #parts: RequestsParts
  readonly #queued: Topic<InboxItem>
  readonly #cancels: Topic<TaskKey>
  #router: Router = () => 'waiting'

  constructor(parts: RequestsParts) {
    this.#parts = parts
    const failed = (error: unknown): void => parts.log.error({ err: error }, 'a listener of inbound tasks failed')
    this.#queued = new Topic(failed)
    this.#cancels = new Topic(failed)
    const { network, keeping } = parts
    network.on<'task.open', Kept<StoredMessage> | undefined>(
      'task.open',
      (tx, message, kept) => keeping.useOrDiscard(kept, () => this.#open(tx, message, kept)),
      (message) => this.#prepare(message),
    )
    network.on<'task.message', Kept<StoredMessage> | undefined>(
      'task.message',
      (tx, message, kept) => keeping.useOrDiscard(kept, () => this.#message(tx, message, kept)),
      (message) => this.#prepare(message),
    )
    network.on('task.cancel', (tx, message) => this.#cancel(tx, message))
  }

  setRouter(router: Router): void {
    this.#router = router
  }

  onQueued(listener: (item: InboxItem) => void): Unsubscribe {
    return this.#queued.subscribe(listener)
  }

  /** Also names, once, what was to be canceled when the node stopped and still is. */
  onCancel(listener: (key: TaskKey) => void): Unsubscribe {
    const end = this.#cancels.subscribe(listener)
    const canceling = rowsCanceling(this.#parts.store.read)
    queueMicrotask(() => {
      for (const { key } of canceling) listener(key)
    })
    return end
  }

  /** Cancels a peer's task for the operator. */
  async cancel(key: TaskKey): Promise<void> {
    await this.#parts.store.write((tx) => this.#requestCancel(tx, this.#parts.journal.row(tx, key, 'in')))
  }

  /** Writes the files of a large message, unless it is going to be refused: a stranger does not fill the disk. */
  async #prepare(message: {
    readonly from: Aid
    readonly body: { readonly message: WireMessage }
  }): Promise<Kept<StoredMessage> | undefined> {
    const { policy, keeping } = this.#parts
    if (policy.decide(message.from).verdict === 'refuse') return undefined
    return await keeping.message(message.body.message)
  }

  /** True if what was prepared is referred to. */
  #open(tx: Tx, received: Received<'task.open'>, prepared: Kept<StoredMessage> | undefined): boolean {
    const { journal, keeping, policy, fault } = this.#parts
    const key = ownTask(received)
    if (findRow(tx, key) !== undefined) throw new AnetError('task_exists', `Task ${key.id} was opened before.`)
    if (tx.get('SELECT 1 FROM task_refused WHERE requester = ? AND task = ?', key.requester, key.id) !== undefined) {
      throw new AnetError('task_refused', `Task ${key.id} was refused before.`)
    }
    const { verdict, trusted } = policy.decide(received.from)
    if (verdict === 'refuse') {
      this.#refuseUnopened(tx, key)
      return false
    }
    const kept = prepared ?? inlineMessage(received.body.message)
    keeping.hold(tx, kept)
    const row = journal.open(tx, {
      key,
      direction: 'in',
      peer: received.from,
      contextId: received.body.contextId,
      nonce: received.body.nonce,
      title: titleOf(received.body.message.parts),
      message: kept.value,
      accepted: verdict === 'accept',
    })
    journal.evidence(tx, 'task.opened', row)
    if (verdict === 'accept') journal.evidence(tx, 'task.accepted', row)
    this.#addItem(tx, row, row.stateSeq, { message: kept.value, trusted, firstOfTask: true })
    fault('request.opened', tx)
    return true
  }

  #message(tx: Tx, received: Received<'task.message'>, prepared: Kept<StoredMessage> | undefined): boolean {
    const { journal, keeping, policy, fault } = this.#parts
    const before = this.#rowOf(tx, received)
    const ruling = judge(before.state, { by: 'requester', what: 'message' })
    if (ruling.kind === 'refused') throw new AnetError(ruling.code, ruling.why)
    const { verdict, trusted } = policy.decide(received.from)
    if (verdict === 'refuse') {
      this.#refuseOpened(tx, before)
      return false
    }
    const kept = prepared ?? inlineMessage(received.body.message)
    keeping.hold(tx, kept)
    let row = journal.message(tx, before, kept.value)
    const { stateSeq } = row
    if (ruling.kind === 'apply' && ruling.state !== undefined) row = journal.status(tx, row, { state: ruling.state })
    const wasForwarded = itemsOfTask(tx, row.id).some(({ forwarder }) => forwarder)
    this.#addItem(tx, row, stateSeq, { message: kept.value, trusted, firstOfTask: false, wasForwarded })
    fault('request.message', tx)
    return true
  }

  #cancel(tx: Tx, received: Received<'task.cancel'>): void {
    const row = this.#rowOf(tx, received)
    if (judge(row.state, { by: 'requester', what: 'cancel' }).kind === 'late')
      this.#parts.journal.late(tx, row, 'cancel')
    else this.#requestCancel(tx, row)
  }

  /** What a forwarder was given is canceled by it, because the backend has to know; everything else ends at once. */
  #requestCancel(tx: Tx, row: TaskRow): void {
    const { journal, voice, fault } = this.#parts
    if (isTerminal(row.state)) return
    const asked = row.cancelRequested ? row : journal.cancel(tx, row)
    const isForwarded = itemsOfTask(tx, row.id).some(({ forwarder }) => forwarder)
    if (isForwarded && this.#cancels.size > 0) tx.afterCommit(() => this.#cancels.publish(row.key))
    else voice.say(tx, asked, { state: 'TASK_STATE_CANCELED' })
    fault('request.cancel', tx)
  }

  /** The lists changed while the task was open. A forward that runs is over for this node, whatever the backend does. */
  #refuseOpened(tx: Tx, row: TaskRow): void {
    const { journal, voice } = this.#parts
    voice.refuse(tx, row, notAccepting)
    for (const { id } of itemsOfTask(tx, row.id)) {
      if (!moveItem(tx, id, ['forwarding'], 'answered')) continue
      journal.evidence(tx, 'anet.backend.failed', row, { item: id, reason: notAccepting })
    }
    tx.afterCommit(() => this.#cancels.publish(row.key))
  }

  /** Recorded before the answer leaves, so that a replay is refused too. Nothing of the content is kept. */
  #refuseUnopened(tx: Tx, key: TaskKey): void {
    const { network, journal, clock, fault } = this.#parts
    const at = clock.now()
    tx.run(
      'INSERT INTO task_refused (requester, task, at, reason) VALUES (?, ?, ?, ?)',
      key.requester,
      key.id,
      at,
      notAccepting,
    )
    const peer = key.requester
    journal.evidence(tx, 'task.refused', { key, direction: 'in', peer }, { reason: notAccepting })
    const body = network.smallBody('refusal', { reason: notAccepting, at, listed: false })
    network.enqueue(tx, { to: peer, type: 'refusal', task: key, body })
    fault('request.refused', tx)
  }

  #addItem(tx: Tx, row: TaskRow, seq: number, input: Omit<Parameters<Router>[0], 'peer'>): void {
    const { voice, clock } = this.#parts
    const last = input.firstOfTask ? undefined : itemsOfTask(tx, row.id).at(-1)
    const known = last === undefined ? input : { ...input, wasForwarded: !last.operator }
    const state = row.accepted ? this.#route(row, known) : 'awaiting_admission'
    const item = insertItem(tx, {
      task: row.id,
      seq,
      receivedAt: clock.now(),
      state,
      trusted: input.trusted,
      forwarder: state === 'queued',
    })
    voice.inboxChanged(tx)
    if (state === 'queued') {
      tx.afterCommit(() => this.#queued.publish(itemView(item)))
    } else if (row.state === 'TASK_STATE_SUBMITTED') {
      const reason = state === 'waiting' ? 'waiting_for_operator' : state
      voice.say(tx, row, { state: 'TASK_STATE_SUBMITTED', reason })
    }
  }

  #route(row: TaskRow, input: Omit<Parameters<Router>[0], 'peer'>): 'queued' | 'waiting' {
    try {
      return this.#router({ peer: row.peer, ...input })
    } catch (error) {
      this.#parts.log.error({ err: error, task: row.key.id }, 'the router of inbound tasks failed: the operator has it')
      return 'waiting'
    }
  }

  #rowOf(tx: Tx, received: Received<'task.message'> | Received<'task.cancel'>): TaskRow {
    const key = ownTask(received)
    const row = findRow(tx, key)
    if (row?.direction !== 'in' || row.peer !== received.from) throw taskNotFound(key.id)
    return row
  }
}

/** A peer asks about tasks that it opened itself; network lets nothing else through. */
function ownTask({ task, from }: { readonly task: TaskKey | undefined; readonly from: string }): TaskKey {
  if (task === undefined || task.requester !== from) throw taskNotFound(task?.id ?? '')
  return task
}
