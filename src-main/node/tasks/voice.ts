import { type EffectStatus, isTerminal, type Message, type TaskState } from '@shared/a2a/index.ts'
import { AnetError } from '@shared/errors.ts'
import type { Aid, Body, WireMessage } from '@shared/wire/index.ts'
import type { Network, PreparedBody } from '../network/index.ts'
import { type Clock, type Log, Topic, type Unsubscribe } from '../ports.ts'
import type { Tx } from '../store/index.ts'
import { closeItems, concludeForward } from './inbox-rows.ts'
import type { Journal, StatusChange } from './journal.ts'
import type { Keeping, Kept } from './keeping.ts'
import { checkParts, toWireMessage } from './parts.ts'
import { judge } from './state-machine.ts'
import type { TaskRow } from './task-rows.ts'
import type { InboundPolicy, StoredMessage } from './types.ts'

export interface VoiceParts {
  readonly network: Network
  readonly policy: InboundPolicy
  readonly journal: Journal
  readonly keeping: Keeping
  readonly clock: Clock
  readonly log: Log
}

/** A status as whoever answers for this node gives it. */
export interface SpokenStatus {
  readonly state: TaskState
  readonly message?: Message
  readonly reason?: string
  readonly effectStatus?: EffectStatus
}

/** A status with its content written and its message to the requester encoded. */
export interface PreparedStatus {
  readonly change: StatusChange
  readonly kept: Kept<StoredMessage> | undefined
  readonly body: PreparedBody<'task.status'>
}

/** What this node says as a provider: written to the task and put into the outbox in one transaction. */
export class Voice {
  readonly #parts: VoiceParts
  readonly #inboxChanges: Topic<undefined>

  constructor(parts: VoiceParts) {
    this.#parts = parts
    this.#inboxChanges = new Topic((error) => parts.log.error({ err: error }, 'a listener of the inbox failed'))
  }

  onInboxChange(listener: () => void): Unsubscribe {
    return this.#inboxChanges.subscribe(listener)
  }

  /** Announces after the commit that the inbox looks different. */
  inboxChanged(tx: Tx): void {
    tx.afterCommit(() => this.#inboxChanges.publish(undefined))
  }

  /** Writes large content to files and encodes the message. Errors: those of checkParts and prepareBody. */
  async prepare(peer: Aid, status: SpokenStatus): Promise<PreparedStatus> {
    const { network, keeping } = this.#parts
    const { message, ...rest } = status
    if (message === undefined) {
      return { change: rest, kept: undefined, body: this.#smallBody(peer, rest, undefined) }
    }
    checkParts(message.parts)
    const wire = toWireMessage(message)
    const kept = await keeping.message(wire)
    try {
      const body = await network.prepareBody('task.status', this.#body(peer, rest, wire))
      return { change: { ...rest, message: kept.value }, kept, body }
    } catch (error) {
      await keeping.discard(kept)
      throw error
    }
  }

  /** A status without a message, inside a transaction. Errors: `task_terminal`, `state_not_allowed`. */
  say(tx: Tx, row: TaskRow, status: Omit<SpokenStatus, 'message'>): TaskRow {
    return this.speak(tx, row, { change: status, kept: undefined, body: this.#smallBody(row.peer, status, undefined) })
  }

  /** Errors: `task_terminal`, `state_not_allowed`. */
  speak(tx: Tx, row: TaskRow, { change, kept, body }: PreparedStatus): TaskRow {
    const { network, journal, keeping } = this.#parts
    requireAllowed(row, change.state)
    if (kept !== undefined) keeping.hold(tx, kept)
    const after = journal.status(tx, row, change)
    this.#settleItems(tx, after)
    network.enqueue(tx, { to: row.peer, type: 'task.status', task: row.key, body })
    return after
  }

  /** Refuses a task that exists on this node: the message type `refusal`, for what the policy decides. */
  refuse(tx: Tx, row: TaskRow, reason: string): TaskRow {
    const { network, journal, clock } = this.#parts
    const after = journal.status(tx, row, { state: 'TASK_STATE_REJECTED', reason })
    this.#settleItems(tx, after)
    const body = network.smallBody('refusal', { reason, at: clock.now(), listed: this.#listed(row.peer) })
    network.enqueue(tx, { to: row.peer, type: 'refusal', task: row.key, body })
    return after
  }

  #settleItems(tx: Tx, row: TaskRow): void {
    if (isTerminal(row.state)) closeItems(tx, row.id)
    else if (row.state !== 'TASK_STATE_INPUT_REQUIRED') return
    concludeForward(tx, row.id)
    this.inboxChanged(tx)
  }

  #smallBody(peer: Aid, status: Omit<SpokenStatus, 'message'>, wire: undefined): PreparedBody<'task.status'> {
    return this.#parts.network.smallBody('task.status', this.#body(peer, status, wire))
  }

  #body(peer: Aid, status: Omit<SpokenStatus, 'message'>, wire: WireMessage | undefined): Body<'task.status'> {
    const { state, reason, effectStatus } = status
    return {
      state,
      at: this.#parts.clock.now(),
      listed: this.#listed(peer),
      ...(wire === undefined ? {} : { message: { ...wire, role: 'ROLE_AGENT' as const } }),
      ...(reason === undefined ? {} : { reason }),
      ...(effectStatus === undefined ? {} : { effectStatus }),
    }
  }

  #listed(peer: Aid): boolean {
    return this.#parts.policy.decide(peer).listed
  }
}

function requireAllowed(row: TaskRow, state: TaskState): void {
  const verdict = judge(row.state, { by: 'provider', what: 'status', state })
  if (verdict.kind === 'late') throw taskEnded(row)
  if (verdict.kind === 'refused') throw new AnetError(verdict.code, verdict.why)
}

export function taskEnded({ key, state }: TaskRow): AnetError {
  const how = state.replace('TASK_STATE_', '').toLowerCase()
  return new AnetError('task_terminal', `Task ${key.id} has ended (${how}): nothing more can be said about it.`, {
    details: { state },
  })
}
