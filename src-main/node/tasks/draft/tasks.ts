import { isInterrupted, isTerminal } from '@shared/a2a/index.ts'
import { AnetError } from '@shared/errors.ts'
import type { Identity } from '../../identity/index.ts'
import type { Network, TaskKey } from '../../network/index.ts'
import type { Clock, Log } from '../../ports.ts'
import type { Store } from '../../store/index.ts'
import { TaskBook } from './book.ts'
import { taskNotFound } from './entries.ts'
import { forgetSent } from './idempotency.ts'
import { InboxTable } from './inbox-table.ts'
import { listPage, textScanLimit } from './listing.ts'
import { materialise } from './parts.ts'
import { Topic } from '../../ports.ts'
import { Providing } from './providing.ts'
import { registerReceiving } from './receiving.ts'
import { selectTask, type TaskRow } from './rows.ts'
import { Sending } from './sending.ts'
import type { FaultPoint, InboundPolicy, TaskPage, TaskQuery, Tasks, TaskSummary } from '../types.ts'

export interface TasksOptions {
  readonly store: Store
  readonly identity: Pick<Identity, 'aid'>
  readonly network: Network
  readonly policy: InboundPolicy
  readonly clock: Clock
  readonly log: Log
  readonly fault?: FaultPoint
}

/** The task layer: one state machine for both directions, over one log of entries. */
export function createTasks(options: TasksOptions): Tasks {
  const { store, identity, network, policy, clock, log, fault = () => {} } = options
  const onError = (error: unknown): void => log.error({ err: error }, 'a listener of the task layer failed')
  const book = new TaskBook({ store, network, clock, log })
  const inbox = new InboxTable(onError)
  const cancels = new Topic<TaskKey>(onError)
  const self = identity.aid
  const sending = new Sending({ self, book, network, fault })
  const providing = new Providing({ book, network, inbox, policy, fault })
  registerReceiving({ self, book, network, policy, inbox, fault, onCancel: (key) => cancels.publish(key) })

  const cancel: Tasks['cancel'] = async (key, metadata) => {
    const row = book.row(key)
    if (row === undefined) throw taskNotFound()
    if (row.direction === 'out') return sending.cancel(key, metadata)
    if (isTerminal(row.state)) throw new AnetError('task_not_cancelable', 'The task has ended already.')
    await providing.status(key, { state: 'TASK_STATE_CANCELED' })
    await store.write((tx) => inbox.closeAll(tx, row.row))
    cancels.publish(key)
    return book.summarise(book.row(key) ?? row)
  }

  return {
    send: (input) => sending.send(input),
    summary: (key) => book.summary(key),
    find: (id) => find(store, book, self, id),
    get: (key) => book.record(key),
    entries: (key, afterSeq) => book.entries(key, afterSeq),
    list: (query) => list(store, book, query),
    cancel,
    subscribe: (key, listener) => book.subscribe(key, listener),
    settled: (key, signal) => settled(book, key, signal),
    onChange: (listener) => book.onChange(listener),
    onPreview: (listener) => book.onPreview(listener),
    materialise: (part) => materialise(store.content, part),
    provider: {
      setRouter: (router) => inbox.setRouter(router),
      onQueued: (listener) => inbox.onQueued(listener),
      onCancel: (listener) => cancels.subscribe(listener),
      queued: () => inbox.inState(store.read, 'queued'),
      startForward: (item) => providing.startForward(item),
      releaseForward: (item) => providing.releaseForward(item),
      endForward: (item, outcome) => providing.endForward(item, outcome),
      status: (key, status) => providing.status(key, status),
      artifact: (key, update) => providing.artifact(key, update),
      preview: (key, artifact) => providing.preview(key, artifact),
    },
    inbox: {
      list: (query) => inbox.list(store.read, query),
      get: (id) => inbox.get(store.read, id),
      answer: (id, answer) => providing.answer(id, answer),
      onChange: (listener) => inbox.onChange(listener),
    },
    start: async () => {
      await store.write((tx) => forgetSent(tx, clock.now()))
      await providing.closeInterrupted()
    },
    stop: () => Promise.resolve(),
  }
}

/** An id given by a person: an own task, or the only task of a peer with that id. */
function find(store: Store, book: TaskBook, self: string, id: string): TaskSummary | undefined {
  const own = book.summary({ requester: self, id })
  if (own !== undefined) return own
  const rows = store.read.all<TaskRow>(`${selectTask} WHERE task = ? LIMIT 2`, id)
  const [only] = rows
  return rows.length === 1 && only !== undefined ? book.summarise(only) : undefined
}

function list(store: Store, book: TaskBook, query: TaskQuery): TaskPage {
  const { text } = query
  if (text === undefined) {
    const { rows, nextCursor, total } = listPage(store.read, query)
    return { tasks: rows.map((row) => book.summarise(row)), nextCursor, total }
  }
  // titles are sealed: the newest ones are opened and looked through
  const wanted = text.toLocaleLowerCase('en')
  const found: TaskSummary[] = []
  let cursor = query.cursor ?? ''
  for (let scanned = 0; scanned < textScanLimit;) {
    const { rows, nextCursor } = listPage(store.read, { ...query, cursor, limit: 200 })
    for (const row of rows) {
      const task = book.summarise(row)
      if (task.title.toLocaleLowerCase('en').includes(wanted)) found.push(task)
      if (found.length === query.limit)
        return { tasks: found, nextCursor: `${row.status_at}.${row.row}`, total: found.length }
    }
    scanned += rows.length
    cursor = nextCursor
    if (cursor === '') break
  }
  return { tasks: found, nextCursor: '', total: found.length }
}

function settled(book: TaskBook, key: TaskKey, signal?: AbortSignal): Promise<TaskSummary> {
  return new Promise((resolve, reject) => {
    const isSettled = (task: TaskSummary): boolean => isTerminal(task.state) || isInterrupted(task.state)
    const subscription = book.subscribe(key, {
      onUpdate: ({ task }) => {
        if (isSettled(task)) finish(task)
      },
    })
    if (subscription === undefined) {
      reject(taskNotFound())
      return
    }
    const { task } = subscription
    const onAbort = (): void => finish(book.summary(key) ?? task)
    const finish = (result: TaskSummary): void => {
      subscription.close()
      signal?.removeEventListener('abort', onAbort)
      resolve(result)
    }
    if (isSettled(task) || signal?.aborted === true) finish(task)
    else signal?.addEventListener('abort', onAbort, { once: true })
  })
}
