import type { Config } from '@shared/config/index.ts'
import { isTerminal, type TaskState } from '@shared/a2a/index.ts'
import { isAnetError } from '@shared/errors.ts'
import type { TaskKey } from '../../../network/index.ts'
import type { Clock, Log } from '../../../ports.ts'
import type { FaultPoint, InboxItem, StoredMessage, Tasks } from '../../../tasks/index.ts'
import type { Backend } from './backend.ts'
import { type Aborted, backendMessage, forward, sleep } from './forward.ts'
import { isTextOnly, selectBackend, takesPeer } from './routing.ts'
import type { Timing } from './timing.ts'
import { type BackendTask, Turn } from './turn.ts'

export interface ForwarderParts {
  readonly tasks: Tasks
  readonly backends: readonly Backend[]
  readonly skills: Config['skills']
  readonly timing: Timing
  readonly clock: Clock
  readonly log: Log
  readonly fault: FaultPoint
}

/** What is going on for one task of a requester. */
interface Conversation {
  readonly backend: Backend
  readonly backendTask: BackendTask
  /** Messages and cancels of a task go one after the other. */
  tail: Promise<void>
  /** Items that have not ended. */
  pending: number
  running: Running | undefined
}

interface Running {
  readonly turn: Turn
  readonly controller: AbortController
  /** False: the backend cannot have the message. */
  written: boolean
  cancelRequested: boolean
}

type RouterItem = Parameters<Parameters<Tasks['provider']['setRouter']>[0]>[0]

/** Conversations kept for follow-up messages; the oldest idle one is forgotten first. */
const maxConversations = 10_000

/** Takes text tasks of trusted peers to the backends (spec/provider.md, Backends). */
export class Forwarder {
  readonly #parts: ForwarderParts
  readonly #conversations = new Map<string, Conversation>()
  readonly #seen = new Set<number>()
  readonly #unsubscribe: (() => void)[] = []
  #stopping = false

  constructor(parts: ForwarderParts) {
    this.#parts = parts
  }

  /** Registers with the task layer and takes up what an earlier run left in the queue. */
  start(): void {
    const { provider } = this.#parts.tasks
    provider.setRouter((item) => this.#route(item))
    this.#unsubscribe.push(
      provider.onQueued((item) => this.#enqueue(item)),
      provider.onCancel((key) => this.#cancel(key)),
    )
    for (const item of provider.queued()) this.#enqueue(item)
  }

  /** Ends every connection. What a backend already has stays "forward started": the next start ends it as unknown. */
  async close(): Promise<void> {
    this.#stopping = true
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    const conversations = [...this.#conversations.values()]
    for (const { running } of conversations) running?.controller.abort('stopping' satisfies Aborted)
    await Promise.all(conversations.map(({ tail }) => tail))
  }

  #route(item: RouterItem): 'queued' | 'waiting' {
    if (!isTextOnly(item.message)) return 'waiting'
    // a conversation stays with whoever began it; its backend is the one of the first message
    if (item.wasForwarded !== undefined) return item.wasForwarded ? 'queued' : 'waiting'
    const backend = selectBackend(this.#parts.backends, this.#parts.skills, item.message)
    return backend !== undefined && takesPeer(backend.config, item.trusted) ? 'queued' : 'waiting'
  }

  #enqueue(item: InboxItem): void {
    if (this.#stopping || this.#seen.has(item.id)) return
    this.#seen.add(item.id)
    const conversation = this.#conversation(item)
    if (conversation === undefined) return
    conversation.pending += 1
    conversation.tail = conversation.tail
      .then(() => this.#run(item, conversation))
      .catch((error: unknown) => {
        if (error !== 'stopping') this.#parts.log.error({ err: error, task: item.key.id }, 'a forward failed')
      })
      .finally(() => {
        conversation.pending -= 1
        this.#seen.delete(item.id)
        this.#forget(item.key, conversation)
      })
  }

  #conversation(item: InboxItem): Conversation | undefined {
    const key = keyOf(item.key)
    const known = this.#conversations.get(key)
    if (known !== undefined) return known
    const first = this.#parts.tasks.get(item.key)?.history[0]
    const backend = first && selectBackend(this.#parts.backends, this.#parts.skills, first)
    if (backend === undefined) {
      this.#parts.log.warn({ task: item.key.id }, 'no backend matches a queued message any more')
      void this.#parts.tasks.provider
        .endForward(item, { result: 'failed', reason: 'backend_removed', handOver: true })
        .catch((error: unknown) => this.#parts.log.error({ err: error }, 'a forward could not be handed over'))
      return undefined
    }
    const backendTask = { id: undefined, contextId: undefined, delivered: new Map<string, string>() }
    const created = { backend, backendTask, tail: Promise.resolve(), pending: 0, running: undefined }
    this.#conversations.set(key, created)
    return created
  }

  #forget(key: TaskKey, conversation: Conversation): void {
    if (conversation.pending > 0 || this.#stopping) return
    const summary = this.#parts.tasks.summary(key)
    if (summary === undefined || isTerminal(summary.state)) this.#conversations.delete(keyOf(key))
    if (this.#conversations.size <= maxConversations) return
    for (const [oldest, { pending }] of this.#conversations) {
      if (pending > 0) continue
      this.#conversations.delete(oldest)
      return
    }
  }

  async #run(item: InboxItem, conversation: Conversation): Promise<void> {
    if (this.#stopping) return
    const { tasks, log } = this.#parts
    const summary = tasks.summary(item.key)
    const stored = messageOf(tasks, item)
    if (summary === undefined || stored === undefined || isTerminal(summary.state)) {
      await tasks.provider.endForward(item, { result: 'failed', reason: 'task_ended' })
      return
    }
    const { backend, backendTask } = conversation
    if (!takesPeer(backend.config, item.trusted)) {
      // the peer was taken off the trust list in the middle of the conversation
      await tasks.provider.endForward(item, { result: 'failed', reason: 'not_trusted', handOver: true })
      return
    }
    const turn = new Turn(item.key, tasks.provider, backendTask, summary.state)
    const running: Running = { turn, controller: new AbortController(), written: false, cancelRequested: false }
    conversation.running = running
    try {
      if (summary.cancelRequested) throw 'canceled' satisfies Aborted
      const prepared = await backendMessage(tasks, item, { contextId: summary.contextId, stored, backendTask })
      await this.#attempts(item, conversation, running, prepared)
    } catch (reason) {
      if (reason === 'canceled') {
        await turn.canceled(running.written ? 'UNVERIFIED' : undefined).catch(unlessEnded)
        await this.#end(item, 'canceled')
      } else if (reason === 'over') {
        await this.#end(item, undefined)
      } else {
        throw reason
      }
    } finally {
      conversation.running = undefined
      log.debug({ task: item.key.id, backend: backend.config.match, state: turn.state }, 'forward ended')
    }
    // a cancel that came while the backend was asking its question
    if (tasks.summary(item.key)?.cancelRequested === true) await this.#cancelIdle(item.key, conversation)
  }

  async #attempts(
    item: InboxItem,
    { backend, backendTask }: Conversation,
    running: Running,
    prepared: Awaited<ReturnType<typeof backendMessage>>,
  ): Promise<void> {
    const { tasks, timing, clock, log, fault } = this.#parts
    const { turn, controller } = running
    const { signal } = controller
    const firstAttempt = clock.now()
    let wait = Math.min(timing.firstRetryMs, timing.maxRetryMs)
    for (;;) {
      const leave = await backend.places.acquire(signal)
      const outcome = await forward({
        item,
        ...prepared,
        turn,
        backendTask,
        client: backend.client,
        signal,
        timing,
        onEvent: () => this.#passCancel(running, backend, backendTask),
        start: async () => {
          fault('backend.before_start')
          const mine = await tasks.provider.startForward(item)
          running.written = mine
          fault('backend.started')
          return mine
        },
      }).finally(leave)
      if (outcome.kind === 'taken') return
      if (outcome.kind === 'over') {
        fault('backend.answered')
        return this.#end(item, outcome.failed)
      }
      if (running.written) await tasks.provider.releaseForward(item)
      running.written = false
      log.warn({ task: item.key.id, backend: backend.config.match, why: outcome.error.message }, 'forward not taken')
      if (clock.now() + wait - firstAttempt > timing.giveUpAfterMs) {
        await turn.fail(outcome.reason, 'FAILED')
        return this.#end(item, outcome.reason)
      }
      await sleep(wait, signal)
      wait = Math.min(wait * 2, timing.maxRetryMs)
    }
  }

  #end(item: InboxItem, failed: string | undefined): Promise<void> {
    const outcome =
      failed === undefined ? { result: 'forwarded' as const } : { result: 'failed' as const, reason: failed }
    return this.#parts.tasks.provider.endForward(item, outcome)
  }

  #cancel(key: TaskKey): void {
    const conversation = this.#conversations.get(keyOf(key))
    const running = conversation?.running
    if (conversation === undefined) {
      void this.#cancelIdle(key, undefined).catch((error: unknown) => this.#cancelFailed(key, error))
    } else if (running === undefined) {
      conversation.tail = conversation.tail
        .then(() => this.#cancelIdle(key, conversation))
        .catch((error: unknown) => this.#cancelFailed(key, error))
    } else {
      running.cancelRequested = true
      if (running.turn.state !== 'open') return
      if (!running.written) running.controller.abort('canceled' satisfies Aborted)
      else this.#passCancel(running, conversation.backend, conversation.backendTask)
    }
  }

  #cancelFailed(key: TaskKey, error: unknown): void {
    this.#parts.log.error({ err: error, task: key.id }, 'a cancel could not be passed on')
  }

  /** Nothing runs: the backend waits for an answer, or this run of the node never gave it the task. */
  async #cancelIdle(key: TaskKey, conversation: Conversation | undefined): Promise<void> {
    const { tasks, timing } = this.#parts
    const isOpen = (state: TaskState | undefined) => state !== undefined && !isTerminal(state)
    if (!isOpen(tasks.summary(key)?.state)) return
    const id = conversation?.backendTask.id
    if (conversation !== undefined && id !== undefined) {
      const deadline = AbortSignal.timeout(timing.cancelMs)
      await conversation.backend.client.cancel(id, deadline).catch(() => undefined)
    }
    if (isOpen(tasks.summary(key)?.state)) {
      await tasks.provider.status(key, { state: 'TASK_STATE_CANCELED' }).catch(unlessEnded)
    }
    this.#conversations.delete(keyOf(key))
  }

  /**
   * Passes a cancel on once the backend has named its task. A backend that does not answer the cancel in time loses the
   * task; one that says it cannot be canceled goes on.
   */
  #passCancel(running: Running, backend: Backend, backendTask: BackendTask): void {
    if (!running.cancelRequested) return
    const { timing } = this.#parts
    const { turn, controller } = running
    if (backendTask.id === undefined) {
      const timer = setTimeout(() => {
        if (backendTask.id === undefined) controller.abort('canceled' satisfies Aborted)
      }, timing.cancelMs)
      controller.signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
      return
    }
    running.cancelRequested = false
    const deadline = AbortSignal.any([controller.signal, AbortSignal.timeout(timing.cancelMs)])
    backend.client
      .cancel(backendTask.id, deadline)
      .then(async (event) => {
        if ((await turn.apply(event)) !== 'open') controller.abort('over' satisfies Aborted)
      })
      .catch((error: unknown) => {
        if (error instanceof Error && 'kind' in error && error.kind === 'refused') return
        controller.abort('canceled' satisfies Aborted)
      })
  }
}

/** The task ended meanwhile, by the operator or by a change of the lists. */
function unlessEnded(error: unknown): void {
  if (!isAnetError(error, 'task_terminal')) throw error
}

function keyOf(key: TaskKey): string {
  return `${key.requester}/${key.id}`
}

function messageOf(tasks: Tasks, item: InboxItem): StoredMessage | undefined {
  const entry = tasks.entries(item.key, item.seq - 1).find(({ seq }) => seq === item.seq)
  return entry?.kind === 'message' ? entry.message : undefined
}
