import { randomUUID } from 'node:crypto'
import { type Artifact, isTerminal, type Message, type Part, type TaskState } from '@shared/a2a/index.ts'
import { limits } from '@shared/wire/index.ts'
import type { TaskKey } from '../../../network/index.ts'
import type { ProviderSide } from '../../../tasks/index.ts'
import type { BackendEvent, BackendStatus } from './backend-event.ts'
import { Coalesced } from './coalesce.ts'
import { isText, Reply } from './reply.ts'

/** The task on the backend that belongs to a task of a requester. In memory only. */
export interface BackendTask {
  id: string | undefined
  contextId: string | undefined
  /** Digests of the artifacts that the requester has. */
  readonly delivered: Map<string, string>
}

/** `open`: more is to come. `asked`: the requester's turn. `ended`: a terminal state was announced. */
export type TurnState = 'open' | 'asked' | 'ended'

const previewIntervalMs = 40
const progressIntervalMs = 1000
/** Said in place of a backend's own words about its failure, which may quote what nobody outside should see. */
const failureText = 'The agent could not finish this task.'

/** One message of the requester and everything the backend answers to it, passed on in order. */
export class Turn {
  readonly key: TaskKey
  readonly #provider: ProviderSide
  readonly #task: BackendTask
  readonly #reply: Reply
  readonly #preview: Coalesced<Artifact>
  #state: TurnState = 'open'
  #working: boolean
  #events = 0
  /** A question that stood before this turn and may be repeated by the first event. */
  #staleQuestion: BackendStatus | undefined
  readonly #isFollowUp: boolean
  #progress: Message | undefined
  #progressTimer: NodeJS.Timeout | undefined
  #tail: Promise<unknown> = Promise.resolve()
  #announcing: Promise<void> = Promise.resolve()

  constructor(key: TaskKey, provider: ProviderSide, task: BackendTask, state: TaskState) {
    this.key = key
    this.#provider = provider
    this.#task = task
    this.#reply = new Reply(task.delivered)
    this.#working = state === 'TASK_STATE_WORKING'
    this.#isFollowUp = task.id !== undefined
    this.#preview = new Coalesced(previewIntervalMs, (artifact) => provider.preview(key, artifact))
  }

  get state(): TurnState {
    return this.#state
  }

  get hasAnswer(): boolean {
    return this.#events > 0
  }

  /** Passes one event on; durable when it resolves. Events after the end of the turn are ignored. */
  apply(event: BackendEvent): Promise<TurnState> {
    return this.#inOrder(() => this.#apply(event))
  }

  async #apply(event: BackendEvent): Promise<TurnState> {
    if (this.#state !== 'open') return this.#state
    this.#events += 1
    switch (event.kind) {
      case 'message':
        // an agent that answers with a message has no task: its message is the reply
        this.#reply.add({ artifact: replyArtifact(event.message.parts), append: false })
        await this.#end('TASK_STATE_COMPLETED')
        break
      case 'task':
        this.#task.id = event.id
        this.#task.contextId = event.contextId
        for (const artifact of event.artifacts) this.#reply.add({ artifact, append: false })
        await this.#status(event.status, this.#isFollowUp && this.#events === 1)
        break
      case 'status':
        this.#learn(event)
        await this.#status(event.status, false)
        break
      case 'artifact':
        this.#learn(event)
        await this.#artifact(event)
        break
    }
    return this.#state
  }

  /** The answer ended. A question that only repeated itself is the answer after all. */
  answerEnded(): Promise<TurnState> {
    return this.#inOrder(async () => {
      if (this.#state === 'open' && this.#staleQuestion !== undefined) await this.#ask(this.#staleQuestion)
      return this.#state
    })
  }

  /** Says `working` if nothing was said yet. */
  announceWorking(): Promise<void> {
    return this.#inOrder(async () => {
      if (this.#state !== 'open') return
      this.#announceWorking()
      await this.#announced()
    })
  }

  /** Ends the task for a reason of this node's own. What was handed over before stays. */
  fail(reason: string, effect: 'FAILED' | 'UNVERIFIED'): Promise<void> {
    return this.#stop({
      state: 'TASK_STATE_FAILED',
      message: ownMessage(failureText),
      reason,
      effectStatus: effect,
    })
  }

  canceled(effect?: 'UNVERIFIED'): Promise<void> {
    return this.#stop({ state: 'TASK_STATE_CANCELED', ...(effect === undefined ? {} : { effectStatus: effect }) })
  }

  #stop(status: Parameters<ProviderSide['status']>[1]): Promise<void> {
    return this.#inOrder(async () => {
      if (this.#state === 'ended') return
      this.#state = 'ended'
      this.dispose()
      await this.#say(status)
    })
  }

  /** Events, timers and the requester's cancel meet here: one at a time. A failure is the caller's, not the next one's. */
  #inOrder<T>(step: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(step)
    this.#tail = result.catch(() => undefined)
    return result
  }

  /** Ends the timers. */
  dispose(): void {
    this.#preview.drop()
    clearTimeout(this.#progressTimer)
  }

  #learn(event: { readonly id: string; readonly contextId: string }): void {
    if (event.id !== '') this.#task.id ??= event.id
    if (event.contextId !== '') this.#task.contextId ??= event.contextId
  }

  async #status(status: BackendStatus, mayBeStale: boolean): Promise<void> {
    this.#staleQuestion = undefined
    switch (status.state) {
      case 'TASK_STATE_SUBMITTED':
        break
      case 'TASK_STATE_WORKING':
        await this.#progressed(status.message)
        break
      case 'TASK_STATE_INPUT_REQUIRED':
        if (mayBeStale) this.#staleQuestion = status
        else await this.#ask(status)
        break
      case 'TASK_STATE_AUTH_REQUIRED':
        await this.#flush()
        this.#working = false
        await this.#say({ state: status.state, ...asMessage(status.message) })
        break
      default:
        await this.#end(status.state, status.message)
    }
  }

  async #ask(status: BackendStatus): Promise<void> {
    await this.#flush()
    this.#state = 'asked'
    await this.#say({ state: 'TASK_STATE_INPUT_REQUIRED', ...asMessage(status.message) })
  }

  async #end(state: TaskState, message?: Message): Promise<void> {
    if (!isTerminal(state)) return
    const completed = state === 'TASK_STATE_COMPLETED'
    // the closing words of a backend without artifacts are its reply
    const isReply = completed && message !== undefined && this.#reply.isEmpty
    if (isReply) this.#reply.add({ artifact: replyArtifact(message.parts), append: false })
    await this.#flush()
    this.#state = 'ended'
    if (state === 'TASK_STATE_FAILED') {
      await this.#say({
        state,
        message: ownMessage(failureText),
        reason: 'backend_failed',
        effectStatus: 'FAILED',
      })
      return
    }
    await this.#say({
      state,
      ...asMessage(isReply ? undefined : message),
      ...(completed ? { effectStatus: 'OK' as const } : {}),
    })
  }

  async #artifact(update: { artifact: Artifact; append: boolean; lastChunk: boolean }): Promise<void> {
    const whole = this.#reply.add(update)
    this.#announceWorking()
    if (update.lastChunk) {
      this.#preview.drop()
      await this.#deliver(whole)
    } else if (isText(whole)) {
      const snapshot = { ...whole, parts: whole.parts.filter((part) => part.text !== undefined) }
      const size = snapshot.parts.reduce((sum, part) => sum + (part.text?.length ?? 0), 0)
      // a preview is a courtesy; a longer reply arrives when it is finished
      if (size <= limits.previewBytes / 4) this.#preview.push(snapshot)
    }
  }

  async #say(status: Parameters<ProviderSide['status']>[1]): Promise<void> {
    await this.#announced()
    await this.#provider.status(this.key, status)
  }

  /** Fails once if the announcement did. */
  #announced(): Promise<void> {
    const announcing = this.#announcing
    this.#announcing = Promise.resolve()
    return announcing
  }

  async #deliver(artifact: Artifact): Promise<void> {
    await this.#announced()
    await this.#provider.artifact(this.key, { artifact, append: false, lastChunk: true })
    this.#reply.markDelivered(artifact)
  }

  async #flush(): Promise<void> {
    this.#preview.drop()
    await this.#flushProgress()
    for (const artifact of this.#reply.undelivered()) await this.#deliver(artifact)
  }

  /** Is not waited for, so that the first preview need not wait for a commit: the next durable step is. */
  #announceWorking(): void {
    if (this.#working) return
    this.#working = true
    this.#announcing = this.#provider.status(this.key, { state: 'TASK_STATE_WORKING' })
    this.#announcing.catch(() => undefined)
  }

  /** Words said while working: each is kept, but a backend that talks token by token is gathered to one a second. */
  async #progressed(message: Message | undefined): Promise<void> {
    if (message === undefined) {
      this.#announceWorking()
      return
    }
    const held = this.#progress
    this.#progress = held === undefined ? message : { ...message, parts: [...held.parts, ...message.parts] }
    if (this.#progressTimer === undefined) await this.#flushProgress()
  }

  async #flushProgress(): Promise<void> {
    const message = this.#progress
    clearTimeout(this.#progressTimer)
    this.#progressTimer = undefined
    if (message === undefined) return
    this.#progress = undefined
    this.#working = true
    await this.#say({ state: 'TASK_STATE_WORKING', message })
    const later = () => this.#inOrder(async () => (this.#state === 'open' ? this.#flushProgress() : undefined))
    // a failure shows itself at the next event, which meets the same task layer
    this.#progressTimer = setTimeout(() => void later().catch(() => undefined), progressIntervalMs)
  }
}

function replyArtifact(parts: readonly Part[]): Artifact {
  return { artifactId: 'reply', name: 'Reply', parts: [...parts] }
}

function ownMessage(text: string): Message {
  return { messageId: randomUUID(), role: 'ROLE_AGENT', parts: [{ text }] }
}

function asMessage(message: Message | undefined): { message?: Message } {
  return message === undefined ? {} : { message }
}
