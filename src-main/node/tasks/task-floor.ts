import { isInterrupted, isTerminal, type JsonObject } from '@shared/a2a/index.ts'
import { AnetError } from '@shared/errors.ts'
import type { Identity } from '../identity/index.ts'
import type { Network, TaskKey } from '../network/index.ts'
import type { Clock, Log } from '../ports.ts'
import type { Store } from '../store/index.ts'
import { Announcements } from './announcements.ts'
import { Answers } from './answers.ts'
import { readEntries } from './entries.ts'
import { Journal, taskNotFound } from './journal.ts'
import { Keeping } from './keeping.ts'
import { OperatorInbox } from './operator-inbox.ts'
import { Provider } from './provider.ts'
import { Records } from './records.ts'
import { Requests } from './requests.ts'
import { Sender } from './sender.ts'
import { judge } from './state-machine.ts'
import { listTasks } from './task-list.ts'
import { findRow, rowsByTaskId } from './task-rows.ts'
import type { FaultPoint, InboundPolicy, TaskEntry, Tasks, TaskSummary } from './types.ts'
import { Voice } from './voice.ts'

/** What waits longer than this for the peer's acknowledgement is shown (spec/network.md, Sealed delivery). */
const unconfirmedAfter = 15 * 60_000

export interface TasksOptions {
  readonly store: Store
  readonly identity: Identity
  readonly network: Network
  readonly policy: InboundPolicy
  readonly clock: Clock
  readonly log: Log
  /** Called at each durable step with its name (src-main/node/fault.ts). */
  readonly fault?: FaultPoint
}

/**
 * The task floor. Needs `tasksMigrations` in the store. Registers its handlers with the network at once, so that it has
 * to be made before the network starts.
 */
export function createTasks(options: TasksOptions): Tasks {
  const { store, identity, network, policy, clock, log } = options
  const fault = options.fault ?? ((): void => {})
  const { read } = store
  const unconfirmed = (key: TaskKey): boolean => {
    const { oldest } = network.unconfirmed(key)
    return oldest !== undefined && clock.now() - oldest > unconfirmedAfter
  }

  const announcements = new Announcements(log)
  const records = new Records({ store, unconfirmed })
  const keeping = new Keeping(store.content)
  const journal = new Journal({ store, records, announcements, clock, fault })
  const voice = new Voice({ network, policy, journal, keeping, clock, log })
  const requests = new Requests({ store, network, policy, journal, keeping, voice, clock, log, fault })
  const answers = new Answers({ store, network, journal, keeping, announcements, clock, fault })
  const provider = new Provider({ store, network, announcements, journal, keeping, voice, requests, fault })
  const inbox = new OperatorInbox({ store, network, journal, records, keeping, voice, fault })
  const sender = new Sender({ store, identity, network, journal, records, keeping, clock, fault })

  /** Ends of waits that nothing else has ended. */
  const waiting = new Set<() => void>()

  const requireSummary = (key: TaskKey): TaskSummary => {
    const summary = records.summary(key)
    if (summary === undefined) throw taskNotFound(key.id)
    return summary
  }

  const requestCancel = async (key: TaskKey, metadata: JsonObject | undefined): Promise<void> => {
    const body = await network.prepareBody('task.cancel', metadata === undefined ? {} : { metadata })
    await store.write((tx) => {
      const row = journal.row(tx, key, 'out')
      if (row.state === 'TASK_STATE_CANCELED' || row.cancelRequested) return
      if (judge(row.state, { by: 'requester', what: 'cancel' }).kind === 'late') return
      journal.cancel(tx, row)
      network.enqueue(tx, { to: row.peer, type: 'task.cancel', task: key, body })
      fault('cancel.written', tx)
    })
  }

  return {
    send: (input) => sender.send(input),
    summary: (key) => records.summary(key),
    find: (id) => {
      const rows = rowsByTaskId(read, id)
      const own = rows.find(({ direction }) => direction === 'out')
      const [row] = own === undefined ? rows : [own]
      return row === undefined || (own === undefined && rows.length > 1) ? undefined : records.summaryOf(row)
    },
    get: (key) => records.get(key),
    entries: (key, afterSeq = 0): readonly TaskEntry[] => {
      const row = findRow(read, key)
      return row === undefined ? [] : readEntries(store, row, afterSeq)
    },
    list: (query) => listTasks(read, records, query),
    cancel: async (key, metadata) => {
      const before = requireSummary(key)
      if (before.state === 'TASK_STATE_CANCELED') return before
      if (isTerminal(before.state)) throw notCancelable(before)
      await (before.direction === 'in' ? requests.cancel(key) : requestCancel(key, metadata))
      return requireSummary(key)
    },
    subscribe: (key, listener) => {
      const task = records.get(key)
      if (task === undefined) return undefined
      let seen = task.stateSeq
      const close = announcements.listen(key, {
        onUpdate(update) {
          if (update.entry.seq <= seen) return
          seen = update.entry.seq
          listener.onUpdate(update)
        },
        ...(listener.onPreview === undefined ? {} : { onPreview: (preview) => listener.onPreview?.(preview) }),
      })
      return { task, close }
    },
    settled: async (key, signal) => {
      const now = requireSummary(key)
      if (isSettled(now) || signal?.aborted === true) return now
      return await new Promise<TaskSummary>((resolve) => {
        const finish = (): void => {
          close()
          waiting.delete(finish)
          signal?.removeEventListener('abort', finish)
          resolve(records.summary(key) ?? now)
        }
        const close = announcements.listen(key, { onUpdate: ({ task }) => (isSettled(task) ? finish() : undefined) })
        signal?.addEventListener('abort', finish, { once: true })
        waiting.add(finish)
      })
    },
    onChange: (listener) => announcements.onChange(listener),
    onPreview: (listener) => announcements.onPreview(listener),
    materialise: (part) => keeping.materialise(part),
    listedBy: (peer) => answers.listedBy(peer),
    provider,
    inbox,
    start: () => provider.recover(),
    stop: async () => {
      for (const finish of waiting) finish()
      await Promise.all([sender.idle(), provider.idle()])
    },
  }
}

function isSettled({ state }: TaskSummary): boolean {
  return isTerminal(state) || isInterrupted(state)
}

function notCancelable({ key, state }: TaskSummary): AnetError {
  const how = state.replace('TASK_STATE_', '').toLowerCase()
  return new AnetError('task_not_cancelable', `Task ${key.id} has ended (${how}) and cannot be canceled.`, {
    details: { state },
  })
}
