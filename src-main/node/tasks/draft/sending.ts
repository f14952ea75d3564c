import { randomBytes, randomUUID } from 'node:crypto'
import { isTerminal, type JsonObject, type Message } from '@shared/a2a/index.ts'
import { AnetError } from '@shared/errors.ts'
import type { Network, PreparedBody, TaskKey } from '../../network/index.ts'
import type { Tx } from '../../store/index.ts'
import type { TaskBook } from './book.ts'
import { taskNotFound } from './entries.ts'
import { findSent, messageDigest, rememberSent } from './idempotency.ts'
import { checkParts, keepFiles, type PreparedParts, storedMessage, storeParts, wireMessage } from './parts.ts'
import { findTask, insertTask, selectTask, type TaskRow } from './rows.ts'
import { afterAnswer, requesterMessage } from './state-machine.ts'
import type { FaultPoint, SendInput, SendResult, TaskSummary } from '../types.ts'

export interface SendingOptions {
  readonly self: string
  readonly book: TaskBook
  readonly network: Network
  readonly fault: FaultPoint
}

const titleLength = 120

export function titleOf(message: Pick<Message, 'parts'>): string {
  const text = message.parts.find((part) => part.text !== undefined && part.text.trim() !== '')?.text
  const title = text ?? message.parts.find((part) => part.filename !== undefined)?.filename ?? ''
  return [...title.trim().replaceAll(/\s+/g, ' ')].slice(0, titleLength).join('')
}

/** The requester's side: opens tasks, adds messages, asks to cancel. */
export class Sending {
  readonly #options: SendingOptions

  constructor(options: SendingOptions) {
    this.#options = options
  }

  async send({ agent, message }: SendInput): Promise<SendResult> {
    const { book, network, fault } = this.#options
    const digest = messageDigest(message)
    const known = findSent(book.store.read, agent, message, digest, book.clock.now())
    if (known !== undefined) return { task: book.summarise(known), repeated: true }
    const target = this.#target(agent, message)
    this.#checkMaySend()
    checkParts(message.parts)
    const prepared = await storeParts(book.store.content, message.parts)
    const wire = wireMessage(message)
    const id = target === undefined ? randomBytes(16).toString('hex') : undefined
    const contextId = target?.context ?? message.contextId ?? randomUUID()
    const nonce = randomBytes(32)
    const open =
      id === undefined ? undefined : await network.prepareBody('task.open', { contextId, nonce, message: wire })
    const more = id === undefined ? await network.prepareBody('task.message', { message: wire }) : undefined
    fault('send.prepared')
    const result = await book.store.write((tx) => {
      // copies that arrive at once: the first that is written wins
      const now = book.clock.now()
      const earlier = findSent(tx, agent, message, digest, now)
      if (earlier !== undefined) return { task: earlier, repeated: true }
      const task =
        open !== undefined && id !== undefined
          ? this.#open(tx, { agent, id, contextId, nonce, message, prepared, body: open, now })
          : this.#continue(tx, {
              agent,
              message,
              prepared,
              body: more,
              now,
              requester: target?.requester ?? '',
              id: target?.task ?? '',
            })
      rememberSent(tx, agent, message, digest, task, now)
      return { task, repeated: false }
    })
    fault('send.committed')
    return { task: book.summarise(result.task), repeated: result.repeated }
  }

  async cancel(key: TaskKey, metadata?: JsonObject): Promise<TaskSummary> {
    const { book, network } = this.#options
    const body = network.smallBody('task.cancel', metadata === undefined ? {} : { metadata })
    return book.store.write((tx) => {
      const row = findTask(tx, key)
      if (row === undefined) throw taskNotFound()
      if (row.state === 'TASK_STATE_CANCELED' || (row.cancel_requested !== 0 && !isTerminal(row.state)))
        return book.summarise(row)
      if (isTerminal(row.state)) {
        throw new AnetError('task_not_cancelable', 'The task has ended already.', { details: { state: row.state } })
      }
      const after = book.append(tx, row, { at: book.clock.now(), kind: 'cancel' }, { cancel_requested: 1 })
      network.enqueue(tx, { to: row.peer, type: 'task.cancel', task: key, body })
      book.store.evidence.append(tx, 'task.cancel_requested', {}, key)
      return book.summarise(after)
    })
  }

  /** The task that the message continues, or undefined if it opens one. */
  #target(agent: string, message: Message): TaskRow | undefined {
    const { self, book } = this.#options
    if (message.taskId !== undefined) {
      const row = book.row({ requester: self, id: message.taskId })
      // a task of another agent looks like one that does not exist
      if (row === undefined || row.peer !== agent) throw taskNotFound()
      if (message.contextId !== undefined && message.contextId !== row.context) {
        throw new AnetError('context_mismatch', 'The task belongs to another context.', {
          remedy: 'Leave contextId out, or send the one of the task.',
        })
      }
      if (requesterMessage(row.state) === 'refuse') throw taskTerminal(row)
      return row
    }
    if (message.contextId === undefined) return undefined
    const asking = book.store.read.all<TaskRow>(
      `${selectTask} WHERE peer = ? AND context = ? AND direction = 'out' AND state = 'TASK_STATE_INPUT_REQUIRED' LIMIT 2`,
      agent,
      message.contextId,
    )
    return asking.length === 1 ? asking[0] : undefined
  }

  #checkMaySend(): void {
    const { joinState } = this.#options.network
    if (!joinState.registered) throw new AnetError('not_registered', joinState.sentence)
  }

  #open(
    tx: Tx,
    task: {
      agent: string
      id: string
      contextId: string
      nonce: Uint8Array
      message: Message
      prepared: PreparedParts
      body: PreparedBody<'task.open'>
      now: number
    },
  ): TaskRow {
    const { self, book, network } = this.#options
    const key = { requester: self, id: task.id }
    const unreachable = network.joinState.state !== 'joined'
    const row = insertTask(tx, book.store.content, {
      direction: 'out',
      key,
      peer: task.agent,
      contextId: task.contextId,
      nonce: task.nonce,
      title: titleOf(task.message),
      at: task.now,
      ...(unreachable ? { reason: 'hub_unreachable' } : {}),
    })
    keepFiles(tx, book.store.content, task.prepared.files)
    network.openChannel(tx, key, task.agent)
    network.enqueue(tx, { to: task.agent, type: 'task.open', task: key, body: task.body })
    book.store.evidence.append(tx, 'task.opened', { peer: task.agent }, key)
    const sent = { ...task.message, taskId: task.id, contextId: task.contextId }
    return book.append(tx, row, {
      at: task.now,
      kind: 'message',
      from: 'requester',
      message: storedMessage(sent, task.prepared.parts),
    })
  }

  #continue(
    tx: Tx,
    more: {
      agent: string
      message: Message
      prepared: PreparedParts
      body: PreparedBody<'task.message'> | undefined
      now: number
      requester: string
      id: string
    },
  ): TaskRow {
    const { book, network } = this.#options
    const key = { requester: more.requester, id: more.id }
    const row = findTask(tx, key)
    if (row === undefined || more.body === undefined) throw taskNotFound()
    if (requesterMessage(row.state) === 'refuse') throw taskTerminal(row)
    keepFiles(tx, book.store.content, more.prepared.files)
    network.enqueue(tx, { to: more.agent, type: 'task.message', task: key, body: more.body })
    book.store.evidence.append(tx, 'task.message_sent', { peer: more.agent }, key)
    const sent = { ...more.message, taskId: row.task, contextId: row.context }
    const state = afterAnswer(row.state)
    const change = state === row.state ? {} : { state, status_at: more.now }
    return book.append(
      tx,
      row,
      { at: more.now, kind: 'message', from: 'requester', message: storedMessage(sent, more.prepared.parts) },
      change,
    )
  }
}

export function taskTerminal(row: TaskRow): AnetError {
  return new AnetError('task_terminal', 'The task has ended; it takes no more messages.', {
    remedy: 'Open a new task, in the same context if it should follow this one.',
    details: { state: row.state },
  })
}
