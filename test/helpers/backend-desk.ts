import { EventEmitter, on } from 'node:events'
import { type Artifact, isTerminal, type Message, type TaskState } from '@shared/a2a/index.ts'
import type { InboxItem, ProviderSide, TaskEntry, Tasks } from '../../src-main/node/tasks/index.ts'

type Status = Parameters<ProviderSide['status']>[1]

/** What the forwarder did, in order. */
export type Deed =
  | { readonly kind: 'started' | 'released'; readonly item: number }
  | { readonly kind: 'ended'; readonly item: number; readonly reason: string | undefined }
  | { readonly kind: 'status'; readonly status: Status }
  | { readonly kind: 'artifact'; readonly artifact: Artifact }
  | { readonly kind: 'preview'; readonly artifact: Artifact }

export const peer = 'peer'.padEnd(40, 'a')
const contextId = 'context-of-the-peer'

/**
 * The provider's half of the task layer, in memory: what a forwarder is given and what it says back. The whole path
 * with the real one runs in test/e2e/demo.
 */
export class BackendDesk {
  readonly deeds: Deed[] = []
  readonly #news = new EventEmitter()
  readonly #entries = new Map<string, TaskEntry[]>()
  readonly #states = new Map<string, TaskState>()
  readonly #canceled = new Set<string>()
  readonly #forwarded = new Set<string>()
  #router: Parameters<ProviderSide['setRouter']>[0] = () => 'waiting'
  #onQueued: (item: InboxItem) => void = () => undefined
  #onCancel: (key: InboxItem['key']) => void = () => undefined
  readonly #queued: InboxItem[] = []
  #items = 0

  /** A message arrives and is accepted. Returns the item if a forwarder takes it. */
  receive(taskId: string, message: Message, trusted = true): InboxItem | undefined {
    const entries = this.#entries.get(taskId) ?? []
    const firstOfTask = entries.length === 0
    this.#entries.set(taskId, entries)
    const seq = entries.length + 1
    entries.push({ seq, at: 0, kind: 'message', from: 'requester', message })
    if (!this.#states.has(taskId)) this.#states.set(taskId, 'TASK_STATE_SUBMITTED')
    const key = { requester: peer, id: taskId }
    const wasForwarded = firstOfTask ? {} : { wasForwarded: this.#forwarded.has(taskId) }
    const route = this.#router({ peer, trusted, message, firstOfTask, ...wasForwarded })
    if (route === 'waiting') return undefined
    this.#forwarded.add(taskId)
    this.#items += 1
    const item: InboxItem = { id: this.#items, key, peer, seq, receivedAt: 0, state: 'queued', trusted }
    this.#queued.push(item)
    this.#onQueued(item)
    return item
  }

  cancel(taskId: string): void {
    this.#canceled.add(taskId)
    this.#onCancel({ requester: peer, id: taskId })
  }

  state(taskId: string): TaskState | undefined {
    return this.#states.get(taskId)
  }

  of<K extends Deed['kind']>(kind: K): Extract<Deed, { kind: K }>[] {
    return this.deeds.filter((deed): deed is Extract<Deed, { kind: K }> => deed.kind === kind)
  }

  /** Resolves when what was done satisfies the condition. */
  async until(condition: () => boolean): Promise<void> {
    const signal = AbortSignal.timeout(10_000)
    if (condition()) return
    for await (const _ of on(this.#news, 'deed', { signal })) {
      if (condition()) return
    }
  }

  get tasks(): Tasks {
    const desk: Pick<Tasks, 'summary' | 'get' | 'entries' | 'materialise' | 'provider'> = {
      summary: (key) => this.#summary(key.id),
      get: (key) => {
        const summary = this.#summary(key.id)
        const history = (this.#entries.get(key.id) ?? []).flatMap((e) => (e.kind === 'message' ? [e.message] : []))
        return summary && { ...summary, status: { state: summary.state }, history, artifacts: [] }
      },
      entries: (key, afterSeq = 0) => (this.#entries.get(key.id) ?? []).filter(({ seq }) => seq > afterSeq),
      materialise: async (part) => {
        if ('large' in part) throw new Error('no large parts here')
        return part
      },
      provider: this.#provider(),
    }
    return desk as Tasks
  }

  #summary(id: string): ReturnType<Tasks['summary']> {
    const state = this.#states.get(id)
    if (state === undefined) return undefined
    return {
      key: { requester: peer, id },
      direction: 'in',
      peer,
      contextId,
      state,
      stateSeq: 0,
      reason: undefined,
      effectStatus: undefined,
      receipt: 'unknown',
      createdAt: 0,
      updatedAt: 0,
      statusAt: 0,
      title: '',
      cancelRequested: this.#canceled.has(id),
      unconfirmed: false,
    }
  }

  #provider(): ProviderSide {
    const did = (deed: Deed) => {
      this.deeds.push(deed)
      this.#news.emit('deed')
    }
    return {
      setRouter: (router) => (this.#router = router),
      onQueued: (listener) => {
        this.#onQueued = listener
        return () => (this.#onQueued = () => undefined)
      },
      onCancel: (listener) => {
        this.#onCancel = listener
        return () => (this.#onCancel = () => undefined)
      },
      queued: () => this.#queued,
      startForward: async (item) => {
        did({ kind: 'started', item: item.id })
        return true
      },
      releaseForward: async (item) => did({ kind: 'released', item: item.id }),
      endForward: async (item, outcome) => {
        const reason = outcome.result === 'failed' ? outcome.reason : undefined
        did({ kind: 'ended', item: item.id, reason })
      },
      status: async (key, status) => {
        if (isTerminal(this.#states.get(key.id) ?? 'TASK_STATE_SUBMITTED')) throw new Error('the task has ended')
        this.#states.set(key.id, status.state)
        did({ kind: 'status', status })
      },
      artifact: async (_key, { artifact }) => did({ kind: 'artifact', artifact }),
      preview: (_key, artifact) => did({ kind: 'preview', artifact }),
    }
  }
}
