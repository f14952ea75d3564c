import { isTerminal, type Message, type TaskStatus } from '@shared/a2a/index.ts'
import { AnetError } from '@shared/errors.ts'
import type { Body, WireArtifact, WireMessage, WirePart } from '@shared/wire/index.ts'
import type { Network, Received, TaskKey } from '../../network/index.ts'
import type { Tx } from '../../store/index.ts'
import type { TaskBook } from './book.ts'
import type { InboxTable } from './inbox-table.ts'
import { keepFiles, type PreparedParts, storedArtifact, storedMessage, storeParts, storeSmallParts } from './parts.ts'
import { findTask, insertTask, type TaskRow } from './rows.ts'
import { titleOf } from './sending.ts'
import { providerArtifact, providerStatus, requesterMessage } from './state-machine.ts'
import type { FaultPoint, InboundPolicy } from '../types.ts'

export interface ReceivingOptions {
  readonly self: string
  readonly book: TaskBook
  readonly network: Network
  readonly policy: InboundPolicy
  readonly inbox: InboxTable
  readonly fault: FaultPoint
  readonly onCancel: (key: TaskKey) => void
}

/** Registers what the task layer does with each type of message. Everything happens in the transaction of the receipt. */
export function registerReceiving(options: ReceivingOptions): void {
  const { network, book } = options
  const { content } = book.store
  const prepareParts = (parts: readonly WirePart[]): Promise<PreparedParts> => storeParts(content, parts)

  network.on<'task.open', PreparedParts>(
    'task.open',
    (tx, received, prepared) => open(options, tx, received, prepared),
    ({ body }) => prepareParts(body.message.parts),
  )
  network.on<'task.message', PreparedParts>(
    'task.message',
    (tx, received, prepared) => add(options, tx, received, prepared),
    ({ body }) => prepareParts(body.message.parts),
  )
  network.on('task.cancel', (tx, received) => cancel(options, tx, received))
  network.on<'task.status', PreparedParts>(
    'task.status',
    (tx, received, prepared) => status(options, tx, received, prepared),
    ({ body }) => prepareParts(body.message?.parts ?? []),
  )
  network.on<'task.artifact', PreparedParts>(
    'task.artifact',
    (tx, received, prepared) => artifact(options, tx, received, prepared),
    ({ body }) => prepareParts(body.artifact.parts),
  )
  network.on('refusal', (tx, received) => refusal(options, tx, received))
  network.on('task.preview', (_tx, { task, body }) => preview(options, task, body))
}

/** A peer asks for work. A refusal is recorded before it is answered, so that a replay is refused too. */
function open(
  options: ReceivingOptions,
  tx: Tx,
  received: Received<'task.open'>,
  prepared: PreparedParts | undefined,
): void {
  const { book, network, policy, inbox } = options
  const { from, body } = received
  const key = keyOf(received.task)
  if (key.requester !== from) throw notCounterpart()
  if (findTask(tx, key) !== undefined) throw new AnetError('task_exists', 'This task was opened before.')
  const now = book.clock.now()
  network.openChannel(tx, key, from)
  const { verdict, trusted, listed } = policy.decide(from)
  if (verdict === 'refuse' || received.peer.forked) {
    tx.run(
      'INSERT OR IGNORE INTO task_refused (requester, task, reason, at) VALUES (?, ?, ?, ?)',
      key.requester,
      key.id,
      'not_accepting',
      now,
    )
    book.store.evidence.append(tx, 'task.refused', { peer: from, reason: 'not_accepting' }, key)
    network.enqueue(tx, {
      to: from,
      type: 'refusal',
      task: key,
      body: network.smallBody('refusal', { reason: 'not_accepting', at: now, listed }),
    })
    return
  }
  const parts = partsOf(body.message, prepared)
  keepFiles(tx, book.store.content, parts.files)
  const message = storedMessage({ ...stripped(body.message), taskId: key.id, contextId: body.contextId }, parts.parts)
  const row = insertTask(tx, book.store.content, {
    direction: 'in',
    key,
    peer: from,
    contextId: body.contextId,
    nonce: body.nonce,
    title: titleOf({ parts: textParts(body.message) }),
    at: now,
  })
  const after = book.append(tx, row, { at: now, kind: 'message', from: 'requester', message })
  book.store.evidence.append(tx, 'task.accepted', { peer: from, trusted }, key)
  inbox.add(tx, after, { message, trusted, firstOfTask: true, admission: verdict === 'ask', now })
  options.fault('receive.open', tx)
}

function add(
  options: ReceivingOptions,
  tx: Tx,
  received: Received<'task.message'>,
  prepared: PreparedParts | undefined,
): void {
  const { book, inbox, policy } = options
  const row = taskOf(tx, received, 'in')
  if (row === undefined) return
  // the task ended while the message was on its way: the requester learns it from the status that is coming to it
  if (requesterMessage(row.state) === 'refuse') return
  const parts = partsOf(received.body.message, prepared)
  keepFiles(tx, book.store.content, parts.files)
  const message = storedMessage(
    { ...stripped(received.body.message), taskId: row.task, contextId: row.context },
    parts.parts,
  )
  const now = book.clock.now()
  const after = book.append(tx, row, { at: now, kind: 'message', from: 'requester', message })
  const { trusted, verdict } = policy.decide(received.from)
  inbox.add(tx, after, { message, trusted, firstOfTask: false, admission: verdict !== 'accept', now })
}

/** A cancel only asks: with a backend at work the backend answers it; what waits for the operator ends at once. */
function cancel(options: ReceivingOptions, tx: Tx, received: Received<'task.cancel'>): void {
  const { book, network, inbox, onCancel } = options
  const row = taskOf(tx, received, 'in')
  if (row === undefined || isTerminal(row.state) || row.cancel_requested !== 0) return
  const now = book.clock.now()
  const key = keyOf(received.task)
  const asked = book.append(tx, row, { at: now, kind: 'cancel' }, { cancel_requested: 1 })
  if (inbox.isForwarded(tx, row.row)) {
    tx.afterCommit(() => onCancel(key))
    return
  }
  inbox.closeAll(tx, row.row)
  const status: TaskStatus = { state: 'TASK_STATE_CANCELED', timestamp: new Date(now).toISOString() }
  book.append(tx, asked, { at: now, kind: 'status', status }, { state: status.state, status_at: now })
  network.enqueue(tx, {
    to: row.peer,
    type: 'task.status',
    task: key,
    body: network.smallBody('task.status', { state: status.state, at: now }),
  })
  book.store.evidence.append(tx, 'task.canceled', {}, key)
}

const evidenceOf: Partial<Record<TaskStatus['state'], string>> = {
  TASK_STATE_COMPLETED: 'task.completed',
  TASK_STATE_FAILED: 'task.failed',
  TASK_STATE_CANCELED: 'task.canceled',
  TASK_STATE_REJECTED: 'task.rejected',
}

function status(
  options: ReceivingOptions,
  tx: Tx,
  received: Received<'task.status'>,
  prepared: PreparedParts | undefined,
): void {
  const { book } = options
  const row = taskOf(tx, received, 'out')
  if (row === undefined) return
  const { body } = received
  const key = keyOf(received.task)
  const verdict = providerStatus(row.state, body.state)
  if (verdict === 'refuse')
    throw new AnetError('task_state_refused', `A provider cannot put a task into ${body.state}.`)
  if (verdict === 'late') {
    book.store.evidence.append(tx, 'task.late_status', { state: body.state }, key)
    return
  }
  const now = book.clock.now()
  const timestamp = new Date(now).toISOString()
  const parts = body.message === undefined ? undefined : partsOf(body.message, prepared)
  if (parts !== undefined) keepFiles(tx, book.store.content, parts.files)
  const message =
    body.message === undefined || parts === undefined
      ? {}
      : {
          message: storedMessage(
            { ...stripped(body.message), role: 'ROLE_AGENT', taskId: row.task, contextId: row.context },
            parts.parts,
          ),
        }
  const reason = body.reason ?? null
  const effect =
    body.effectStatus ??
    (body.state === 'TASK_STATE_COMPLETED' ? 'OK' : body.state === 'TASK_STATE_FAILED' ? 'FAILED' : row.effect)
  book.append(
    tx,
    row,
    {
      at: now,
      kind: 'status',
      status: { state: body.state, timestamp, ...message },
      ...(reason === null ? {} : { reason }),
      ...(effect === null ? {} : { effectStatus: effect }),
    },
    { state: body.state, reason, effect, status_at: now },
  )
  const kind = evidenceOf[body.state]
  if (kind !== undefined) book.store.evidence.append(tx, kind, { peer: received.from }, key)
  options.fault('receive.status', tx)
}

function artifact(
  options: ReceivingOptions,
  tx: Tx,
  received: Received<'task.artifact'>,
  prepared: PreparedParts | undefined,
): void {
  const { book } = options
  const row = taskOf(tx, received, 'out')
  if (row === undefined) return
  const { body } = received
  const key = keyOf(received.task)
  if (providerArtifact(row.state) === 'late') {
    book.store.evidence.append(tx, 'task.late_artifact', {}, key)
    return
  }
  const parts = prepared ?? { parts: storeSmallParts(body.artifact.parts), files: [] }
  keepFiles(tx, book.store.content, parts.files)
  const { parts: _parts, ...about } = body.artifact satisfies WireArtifact
  book.append(tx, row, {
    at: book.clock.now(),
    kind: 'artifact',
    artifact: storedArtifact(about, parts.parts),
    append: body.append,
    lastChunk: body.lastChunk,
  })
}

function refusal(options: ReceivingOptions, tx: Tx, received: Received<'refusal'>): void {
  const { book } = options
  const row = taskOf(tx, received, 'out')
  if (row === undefined || isTerminal(row.state)) return
  const now = book.clock.now()
  const { reason, text } = received.body
  const key = keyOf(received.task)
  const message: Message | undefined =
    text === undefined
      ? undefined
      : {
          messageId: `${row.task}-refusal`,
          role: 'ROLE_AGENT',
          taskId: row.task,
          contextId: row.context,
          parts: [{ text }],
        }
  const state: TaskStatus = {
    state: 'TASK_STATE_REJECTED',
    timestamp: new Date(now).toISOString(),
    ...(message === undefined ? {} : { message }),
  }
  book.append(
    tx,
    row,
    { at: now, kind: 'status', status: state, reason },
    { state: state.state, reason, effect: 'UNAVAILABLE', status_at: now },
  )
  book.store.evidence.append(tx, 'task.rejected', { peer: received.from, reason }, key)
}

function preview({ book }: ReceivingOptions, task: TaskKey | undefined, body: Body<'task.preview'>): void {
  const key = keyOf(task)
  const row = book.row(key)
  if (row === undefined || row.direction !== 'out' || isTerminal(row.state)) return
  book.preview({ key, artifact: storedArtifact(body.artifact, storeSmallParts(body.artifact.parts)) })
}

function keyOf(task: TaskKey | undefined): TaskKey {
  if (task === undefined) throw new AnetError('message_without_task', 'This message names no task.')
  return task
}

/** The task of a message from its counterpart, in the direction that the sender's role has. */
function taskOf(tx: Tx, received: Received, direction: 'in' | 'out'): TaskRow | undefined {
  const row = findTask(tx, keyOf(received.task))
  // refused before: what follows on it has no effect
  if (row === undefined) return undefined
  if (row.direction !== direction || row.peer !== received.from) throw notCounterpart()
  return row
}

function notCounterpart(): AnetError {
  return new AnetError(
    'not_counterpart',
    'This message is not from the counterpart of its task, or not in its direction.',
  )
}

function partsOf(message: WireMessage, prepared: PreparedParts | undefined): PreparedParts {
  return prepared ?? { parts: storeSmallParts(message.parts), files: [] }
}

function stripped(message: WireMessage): Omit<Message, 'parts'> {
  const { parts: _parts, ...rest } = message
  return rest
}

function textParts(message: WireMessage): Message['parts'] {
  return message.parts.flatMap((part) =>
    part.text === undefined
      ? part.filename === undefined
        ? []
        : [{ text: '', filename: part.filename }]
      : [{ text: part.text }],
  )
}
