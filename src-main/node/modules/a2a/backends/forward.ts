import { createHash } from 'node:crypto'
import { anetKeys, type JsonObject, type Message } from '@shared/a2a/index.ts'
import { isAnetError } from '@shared/errors.ts'
import type { InboxItem, StoredMessage, Tasks } from '../../../tasks/index.ts'
import type { BackendClient } from './backend-client.ts'
import { BackendError } from './backend-error.ts'
import { cleanMetadata } from './backend-event.ts'
import type { Timing } from './timing.ts'
import type { BackendTask, Turn } from './turn.ts'

/** Why a forward was aborted: the requester's cancel, the node's stop, or the turn's end by another way. */
export type Aborted = 'canceled' | 'stopping' | 'over'

export interface ForwardInput {
  readonly item: InboxItem
  readonly message: Message
  readonly metadata: JsonObject
  readonly turn: Turn
  readonly backendTask: BackendTask
  readonly client: BackendClient
  readonly signal: AbortSignal
  readonly timing: Timing
  /** Commits "forward started". False: somebody else took the item. */
  readonly start: () => Promise<boolean>
  /** After each event of the backend. */
  readonly onEvent: () => void
}

/**
 * `retry`: the backend cannot have taken the message. `taken`: the item is somebody else's. `over`: the turn has been
 * announced, or nothing more is to be announced.
 */
export type ForwardOutcome =
  | { readonly kind: 'retry'; readonly reason: 'backend_unreachable' | 'backend_unavailable'; readonly error: Error }
  | { readonly kind: 'taken' }
  | { readonly kind: 'over'; readonly failed: string | undefined }

/** One attempt to hand a message to a backend and to pass its answer on. Throws only {@link Aborted} reasons. */
export async function forward(input: ForwardInput): Promise<ForwardOutcome> {
  const { turn, client, signal, timing } = input
  let started = false
  let taken = false
  const working = setTimeout(() => void turn.announceWorking().catch(() => undefined), timing.workingAfterMs)
  try {
    const events = client.send(input.message, {
      metadata: input.metadata,
      signal,
      beforeWrite: async () => {
        started = await input.start()
        taken = !started
        if (taken) throw new Error('taken')
      },
    })
    for await (const event of events) {
      const state = await turn.apply(event)
      input.onEvent()
      if (state !== 'open') break
    }
    if ((await turn.answerEnded()) === 'open') await follow(input)
    return { kind: 'over', failed: undefined }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (taken) return { kind: 'taken' }
    if (!started) {
      client.forgetCard()
      const cause = error instanceof Error ? error : new Error('not sent')
      return { kind: 'retry', reason: 'backend_unreachable', error: cause }
    }
    if (error instanceof BackendError && error.kind === 'unavailable') {
      return { kind: 'retry', reason: 'backend_unavailable', error }
    }
    return await recover(input, error)
  } finally {
    clearTimeout(working)
    turn.dispose()
  }
}

/** After the message was written: the answer may still be had by asking, but the message is never written again. */
async function recover(input: ForwardInput, error: unknown): Promise<ForwardOutcome> {
  const { turn, signal } = input
  if (turn.state === 'ended') return { kind: 'over', failed: undefined }
  let last = error
  if (last instanceof BackendError && last.kind !== 'refused' && turn.hasAnswer && input.backendTask.id !== undefined) {
    try {
      await follow(input)
      return { kind: 'over', failed: undefined }
    } catch (failure) {
      if (signal.aborted) throw signal.reason
      last = failure
    }
  }
  // a task that ended meanwhile (a late answer after a cancel) has nothing left to say
  if (isAnetError(last, 'task_terminal', 'task_not_found')) return { kind: 'over', failed: 'task_ended' }
  const refused = (last instanceof BackendError && last.kind === 'refused') || isAnetError(last)
  const reason = refused ? 'backend_failed' : 'backend_outcome_unknown'
  await turn.fail(reason, refused ? 'FAILED' : 'UNVERIFIED')
  return { kind: 'over', failed: reason }
}

/** Reads on where the answer broke off or was not yet complete: the task as it is, then its stream. */
async function follow({ turn, backendTask, client, signal, timing }: ForwardInput): Promise<void> {
  const id = backendTask.id
  if (id === undefined) throw new BackendError('broken', 'The backend answered without naming a task.')
  let failures = 0
  let wait = timing.followMs
  for (;;) {
    try {
      if ((await turn.apply(await client.getTask(id, signal))) !== 'open') return
      if ((await client.card(signal)).streaming) {
        for await (const event of client.subscribe(id, signal)) {
          if ((await turn.apply(event)) !== 'open') return
        }
      }
      if ((await turn.answerEnded()) !== 'open') return
      failures = 0
    } catch (error) {
      if (!(error instanceof BackendError) || signal.aborted) throw error
      failures += 1
      // an answer to the question is final: an agent that was started anew does not know the task any more
      if (error.kind === 'refused' || failures > timing.followFailures) {
        throw new BackendError('broken', 'The backend does not say what came of the task.', { cause: error })
      }
    }
    await sleep(wait, signal)
    wait = Math.min(wait * 2, timing.followMaxMs)
  }
}

/**
 * The message as the backend gets it. Context and message ids are hashes over the peer, so that two peers never share a
 * session; what the peer claims under ANet's own keys is dropped.
 */
export async function backendMessage(
  tasks: Tasks,
  item: InboxItem,
  context: { readonly contextId: string; readonly stored: StoredMessage; readonly backendTask: BackendTask },
): Promise<{ readonly message: Message; readonly metadata: JsonObject }> {
  const { stored, backendTask, contextId } = context
  const metadata: JsonObject = { [anetKeys.peerAid]: item.peer, [anetKeys.trusted]: item.trusted }
  const parts = await Promise.all(stored.parts.map((part) => tasks.materialise(part)))
  const message: Message = {
    messageId: hash('message', item.peer, item.key.id, String(item.seq)),
    contextId: backendTask.contextId ?? hash('context', item.peer, contextId),
    ...(backendTask.id === undefined ? {} : { taskId: backendTask.id }),
    role: 'ROLE_USER',
    parts: parts.map((part) => ({ ...part })),
    metadata: { ...cleanMetadata(stored.metadata).metadata, ...metadata },
  }
  return { message, metadata }
}

function hash(...fields: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex').slice(0, 32)
}

/** Rejects with the signal's reason. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal.addEventListener('abort', onAbort, { once: true })
  })
}
