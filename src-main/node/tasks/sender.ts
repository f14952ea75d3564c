import { randomBytes, randomUUID } from 'node:crypto'
import { isTerminal, type Message } from '@shared/a2a/index.ts'
import { AnetError } from '@shared/errors.ts'
import { type Aid, isCid, type WireMessage } from '@shared/wire/index.ts'
import type { Identity } from '../identity/index.ts'
import type { Network, PreparedBody, TaskKey } from '../network/index.ts'
import type { Clock } from '../ports.ts'
import type { Db, Store, Tx } from '../store/index.ts'
import { type Journal, taskNotFound } from './journal.ts'
import type { Keeping, Kept } from './keeping.ts'
import { Lanes } from './lanes.ts'
import { forgetMessages, rememberMessage, type SentMessage, sentMessage, taskOfMessage } from './message-ids.ts'
import { checkParts, plainBytes, toWireMessage } from './parts.ts'
import type { Records } from './records.ts'
import { judge } from './state-machine.ts'
import { findRow, rowsAskingInContext, type TaskRow } from './task-rows.ts'
import { titleOf } from './title.ts'
import type { FaultPoint, SendInput, SendResult, StoredMessage } from './types.ts'

/** The peer holds at most 256 messages of a task that wait for an earlier one. */
const maxUnconfirmed = 200
const forgetEvery = 60_000
/** `anet.reason` of a task that has not left this node because there is no connection to the hub. */
export const hubUnreachable = 'hub_unreachable'

export interface SenderParts {
  readonly store: Store
  readonly identity: Identity
  readonly network: Network
  readonly journal: Journal
  readonly records: Records
  readonly keeping: Keeping
  readonly clock: Clock
  readonly fault: FaultPoint
}

/** What a message turns out to be. */
interface Plan {
  readonly kind: 'open' | 'continue'
  readonly key: TaskKey
  readonly contextId: string
}

type Prepared =
  | { readonly type: 'task.open'; readonly nonce: Uint8Array; readonly body: PreparedBody<'task.open'> }
  | { readonly type: 'task.message'; readonly body: PreparedBody<'task.message'> }

interface Sending {
  readonly input: SendInput
  readonly sent: SentMessage
  readonly wire: WireMessage
  readonly kept: Kept<StoredMessage>
}

interface Step<T extends Prepared['type']> {
  readonly kept: Kept<StoredMessage>
  readonly plan: Plan
  readonly prepared: Prepared & { readonly type: T }
  readonly client: { readonly client?: string }
}

/** Sends messages of this node's clients: each opens a task or continues one (spec/a2a-endpoint.md, Bindings). */
export class Sender {
  readonly #parts: SenderParts
  readonly #lanes = new Lanes()
  #forgotAt = Number.NEGATIVE_INFINITY

  constructor(parts: SenderParts) {
    this.#parts = parts
  }

  /** Resolves when the message is durable, in the task and in the outbox. Errors: see `Tasks`. */
  send(input: SendInput): Promise<SendResult> {
    const { taskId, contextId } = input.message
    const lane = present(taskId) ?? present(contextId)
    // a large message must not be overtaken by the next one of its conversation
    return lane === undefined ? this.#send(input) : this.#lanes.run(`${input.agent}/${lane}`, () => this.#send(input))
  }

  idle(): Promise<void> {
    return this.#lanes.idle()
  }

  async #send(input: SendInput): Promise<SendResult> {
    const { store, clock, keeping, fault } = this.#parts
    const sent = await sentMessage(input.agent, input.message)
    const known = taskOfMessage(store.read, sent, clock.now())
    if (known !== undefined) return this.#repeated(known)
    this.#requireRegistered()
    await this.#requireAgent(input.agent)
    checkParts(input.message.parts)
    const plan = this.#plan(store.read, input, sent)
    const wire = toWireMessage(withoutIds(input.message))
    const kept = await keeping.message(wire)
    if (kept.files.length > 0) fault('send.files')
    try {
      const result = await this.#commit({ input, sent, kept, wire }, plan)
      if (result.repeated) await keeping.discard(kept)
      fault('send.committed')
      return result
    } catch (error) {
      await keeping.discard(kept)
      throw error
    }
  }

  /** Prepares for what the message is, and again if it has become something else before the transaction ran. */
  async #commit(sending: Sending, first: Plan): Promise<SendResult> {
    const { store, clock } = this.#parts
    const { input, sent, wire } = sending
    for (let plan = first; ; plan = this.#plan(store.read, input, sent)) {
      // oxlint-disable-next-line no-await-in-loop -- the second round depends on what the first one met
      const prepared = await this.#prepare(plan, wire)
      // oxlint-disable-next-line no-await-in-loop
      const outcome = await store.write((tx) => {
        const known = taskOfMessage(tx, sent, clock.now())
        if (known !== undefined) return { known }
        if (!isSamePlan(this.#plan(tx, input, sent), plan)) return undefined
        return { written: this.#write(tx, sending, plan, prepared) }
      })
      if (outcome?.known !== undefined) return this.#repeated(outcome.known)
      if (outcome?.written !== undefined) return { task: this.#summary(outcome.written), repeated: false }
    }
  }

  /** Task, entry, message id, channel, outbox and evidence: all in one transaction. */
  #write(tx: Tx, { input, sent, kept }: Sending, plan: Plan, prepared: Prepared): TaskRow {
    const { keeping, clock, fault } = this.#parts
    keeping.hold(tx, kept)
    const client = input.client === undefined ? {} : { client: input.client.slice(0, 128) }
    const row =
      prepared.type === 'task.open'
        ? this.#open(tx, { input, kept, plan, prepared, client })
        : this.#continue(tx, { kept, plan, prepared, client })
    rememberMessage(tx, sent, row)
    const now = clock.now()
    if (now - this.#forgotAt >= forgetEvery) {
      this.#forgotAt = now
      forgetMessages(tx, now)
    }
    fault('send.written', tx)
    return row
  }

  #open(tx: Tx, { input, kept, plan, prepared, client }: Step<'task.open'> & { readonly input: SendInput }): TaskRow {
    const { network, journal } = this.#parts
    const { key, contextId } = plan
    const row = journal.open(tx, {
      key,
      direction: 'out',
      peer: input.agent,
      contextId,
      nonce: prepared.nonce,
      title: titleOf(input.message.parts),
      message: kept.value,
      accepted: false,
      ...client,
      ...(network.joinState.state === 'joined' ? {} : { reason: hubUnreachable }),
    })
    journal.evidence(tx, 'task.opened', row)
    network.openChannel(tx, key, input.agent)
    network.enqueue(tx, { to: input.agent, type: 'task.open', task: key, body: prepared.body })
    return row
  }

  #continue(tx: Tx, { kept, plan, prepared, client }: Step<'task.message'>): TaskRow {
    const { network, journal } = this.#parts
    const before = journal.row(tx, plan.key, 'out')
    const row = journal.message(tx, before, kept.value, client.client)
    network.enqueue(tx, { to: row.peer, type: 'task.message', task: plan.key, body: prepared.body })
    const verdict = judge(before.state, { by: 'requester', what: 'message' })
    if (verdict.kind !== 'apply' || verdict.state === undefined) return row
    return journal.status(tx, row, { state: verdict.state })
  }

  async #prepare(plan: Plan, wire: WireMessage): Promise<Prepared> {
    const { network } = this.#parts
    const message = { ...wire, role: 'ROLE_USER' as const, taskId: plan.key.id, contextId: plan.contextId }
    if (plan.kind === 'continue') {
      return { type: 'task.message', body: await network.prepareBody('task.message', { message }) }
    }
    const nonce = plainBytes(randomBytes(32))
    const body = await network.prepareBody('task.open', { contextId: plan.contextId, nonce, message })
    return { type: 'task.open', nonce, body }
  }

  /**
   * Which task a message is for. With a taskId: that one, if it is open, is with this agent and lies in the context that
   * was named. With a contextId alone: the one task of that context that waits for an answer (not for a payment), if
   * there is exactly one. Otherwise a new one. Errors: `task_not_found`, `context_mismatch`, `task_terminal`, `task_busy`.
   */
  #plan(db: Db, { agent, message }: SendInput, { contextId }: SentMessage): Plan {
    const { identity, network } = this.#parts
    const taskId = present(message.taskId)
    if (taskId !== undefined) {
      const row = findRow(db, { requester: identity.aid, id: taskId })
      // a task with another agent looks just like one that does not exist
      if (row?.direction !== 'out' || row.peer !== agent) throw taskNotFound(taskId)
      if (contextId !== undefined && contextId !== row.contextId) throw contextMismatch(taskId)
      if (isTerminal(row.state)) throw taskTerminal(row)
      if (network.unconfirmed(row.key).count >= maxUnconfirmed) throw taskBusy(taskId)
      return { kind: 'continue', key: row.key, contextId: row.contextId }
    }
    const asking = contextId === undefined ? [] : rowsAskingInContext(db, agent, contextId)
    const [only] = asking
    if (only !== undefined && asking.length === 1) {
      return { kind: 'continue', key: only.key, contextId: only.contextId }
    }
    const key = { requester: identity.aid, id: randomBytes(16).toString('hex') }
    return { kind: 'open', key, contextId: contextId ?? randomUUID() }
  }

  #requireRegistered(): void {
    const { registered, sentence, state } = this.#parts.network.joinState
    if (registered) return
    throw new AnetError('not_registered', sentence, { details: { reason: 'not_registered', joinState: state } })
  }

  /** Only agents that this node can verify are sent to. Errors: `unknown_agent`, `hub_unreachable`, `peer_forked`, … */
  async #requireAgent(aid: Aid): Promise<void> {
    const { identity, network } = this.#parts
    if (aid === identity.aid || !isCid(aid)) throw unknownAgent(aid)
    const { directory } = network
    const peer = directory.get(aid)?.peer ?? (await directory.lookup(aid)).peer
    if (peer === undefined) throw unknownAgent(aid)
    if (peer.forked) {
      throw new AnetError('peer_forked', `The agent ${aid} has shown two key histories: nothing is sent to it.`, {
        remedy: "Compare the two histories with the agent's operator and choose one.",
      })
    }
    if (peer.history.key === null) {
      throw new AnetError('peer_deactivated', `The agent ${aid} has ended its identity.`)
    }
  }

  #repeated(row: TaskRow): SendResult {
    return { task: this.#summary(row), repeated: true }
  }

  #summary(row: TaskRow): SendResult['task'] {
    const { records } = this.#parts
    return records.summary(row.key) ?? records.summaryOf(row)
  }
}

function present(id: string | undefined): string | undefined {
  return id === '' ? undefined : id
}

/** The ids of the task are put in where the message leaves and where it is read. */
function withoutIds({ taskId: _task, contextId: _context, ...message }: Message): Message {
  return message
}

/** A plan to open is the same whatever ids it drew: those that were prepared count. */
function isSamePlan(a: Plan, b: Plan): boolean {
  return a.kind === 'open' ? b.kind === 'open' : b.kind === 'continue' && a.key.id === b.key.id
}

function unknownAgent(aid: Aid): AnetError {
  return new AnetError('unknown_agent', `There is no agent ${aid} that this node could verify.`, {
    remedy: '"anet agents list --wide" prints the whole AIDs of those it knows.',
  })
}

function contextMismatch(taskId: string): AnetError {
  return new AnetError('context_mismatch', `Task ${taskId} belongs to another context than the message names.`, {
    remedy: 'Leave the contextId out, or name the one of the task.',
  })
}

function taskTerminal({ key, state }: TaskRow): AnetError {
  const how = state.replace('TASK_STATE_', '').toLowerCase()
  return new AnetError('task_terminal', `Task ${key.id} has ended (${how}): it takes no more messages.`, {
    remedy: 'Send the message without a taskId: it opens a new task in the same context.',
    details: { state },
  })
}

function taskBusy(taskId: string): AnetError {
  return new AnetError(
    'task_busy',
    `${maxUnconfirmed} messages of task ${taskId} wait for the agent to confirm them.`,
    {
      remedy: 'Wait until the agent can be reached again.',
    },
  )
}
