import { extensionUris, isTerminal, type TaskState } from '@shared/a2a/index.ts'
import type { TaskKey } from '../../network/index.ts'
import type { Log, Unsubscribe } from '../../ports.ts'
import {
  artifactWithoutBytes,
  isLarge,
  messageWithoutBytes,
  statusWithoutBytes,
  type StoredArtifact,
  type StoredPart,
  taskMetadata,
  type TaskPreview,
  type TaskRecord,
  type Tasks,
  type TaskUpdate,
  taskWithoutBytes,
} from '../../tasks/index.ts'
import { taskNotFound } from './errors.ts'
import { type Exchange, refuse } from './exchange.ts'
import { busy } from './listener.ts'
import { EventStream } from './sse.ts'
import { artifactEvents, snapshotEvents, statusEvents, type StreamEvents } from './stream-events.ts'

/** How a binding writes a stream. */
export interface StreamForm {
  /** Puts a StreamResponse, a JSON text, into the envelope of the binding. */
  readonly wrap: (json: string) => string
  readonly headers: readonly string[]
  /** The extensions that the client activated. */
  readonly active: readonly string[]
}

/**
 * Streams of tasks. Events are made once and shared by all streams of a task, so that every client gets the same events in
 * the same order.
 */
export class TaskStreams {
  readonly #tasks: Tasks
  readonly #log: Log
  readonly #made = new WeakMap<object, Promise<StreamEvents | undefined> | StreamEvents | undefined>()

  constructor(parts: { tasks: Tasks; log: Log }) {
    this.#tasks = parts.tasks
    this.#log = parts.log
  }

  /**
   * Streams a task to a client: the task as it is, taken in one step with the subscription, then what happens, until the
   * task ends or waits for an answer.
   */
  open(exchange: Exchange, key: TaskKey, form: StreamForm): void {
    if (!exchange.takeStream()) {
      refuse(exchange, busy('streams'))
      return
    }
    let unsubscribe: Unsubscribe | undefined
    let chain: Promise<void> | undefined
    let over = false
    const subscription = this.#tasks.subscribe(key, {
      onUpdate: (update) => {
        if (over) return
        over = endsStream(update)
        deliver(this.#eventsOf(update, exchange.limits.eventBytes), over)
        if (over) unsubscribe?.()
      },
      ...(form.active.includes(extensionUris.preview)
        ? { onPreview: (preview) => deliver(this.#previewEvents(preview, exchange.limits.eventBytes), false) }
        : {}),
    })
    if (subscription === undefined) throw taskNotFound()
    unsubscribe = subscription.close
    const stream = new EventStream(exchange, { headers: form.headers, onClose: unsubscribe })

    function send(events: StreamEvents | undefined, last: boolean): void {
      if (events !== undefined) stream.push(wrapped(events, form.wrap), events.bytes)
      if (last) stream.end()
    }
    // what has to be read from a sealed file holds back what comes after it, not other streams
    const deliver = (made: Promise<StreamEvents | undefined> | StreamEvents | undefined, last: boolean): void => {
      if (chain === undefined && !(made instanceof Promise)) {
        send(made, last)
        return
      }
      const mine = (chain ?? Promise.resolve())
        .then(() => made)
        .then((events) => send(events, last))
        .catch((error: unknown) => {
          this.#log.error({ err: error, task: key.id }, 'an event of a stream could not be made')
          stream.cutOff()
        })
        .then(() => {
          if (chain === mine) chain = undefined
        })
      chain = mine
    }
    over = closesStream(subscription.task.state)
    deliver(this.#snapshot(subscription.task, exchange.limits.eventBytes), over)
    if (over) unsubscribe()
  }

  async #snapshot(record: TaskRecord, eventBytes: number): Promise<StreamEvents> {
    const artifacts = await Promise.all(record.artifacts.map((artifact) => this.#textFilled(artifact)))
    return snapshotEvents(taskWithoutBytes({ ...record, artifacts }), eventBytes)
  }

  #eventsOf(update: TaskUpdate, eventBytes: number): Promise<StreamEvents | undefined> | StreamEvents | undefined {
    const { entry } = update
    if (this.#made.has(entry)) return this.#made.get(entry)
    const made = this.#make(update, eventBytes)
    this.#made.set(entry, made)
    return made
  }

  #make({ task, entry }: TaskUpdate, eventBytes: number): Promise<StreamEvents> | StreamEvents | undefined {
    const ids = { taskId: task.key.id, contextId: task.contextId }
    const metadata = taskMetadata(task)
    switch (entry.kind) {
      case 'status':
        return statusEvents({ ...ids, status: statusWithoutBytes(entry.status), metadata }, eventBytes)
      case 'message': {
        // what the requester said is known to whoever said it; A2A has no event for it
        if (entry.from === 'requester') return undefined
        const status = {
          state: task.state,
          message: messageWithoutBytes(entry.message),
          timestamp: new Date(entry.at).toISOString(),
        }
        return statusEvents({ ...ids, status, metadata }, eventBytes)
      }
      case 'artifact': {
        const { append, lastChunk } = entry
        const event = (artifact: StoredArtifact): StreamEvents =>
          artifactEvents({ ...ids, artifact: artifactWithoutBytes(artifact), append, lastChunk, metadata }, eventBytes)
        return entry.artifact.parts.some(isLargeText)
          ? this.#textFilled(entry.artifact).then(event)
          : event(entry.artifact)
      }
      case 'cancel':
        return undefined
    }
  }

  /** Previews are whole snapshots of a reply that is still being written. */
  #previewEvents({ key, artifact }: TaskPreview, eventBytes: number): StreamEvents | undefined {
    const made = this.#made.get(artifact)
    if (made !== undefined && !(made instanceof Promise)) return made
    const contextId = this.#tasks.summary(key)?.contextId
    if (contextId === undefined) return undefined
    const update = {
      taskId: key.id,
      contextId,
      artifact: artifactWithoutBytes(artifact),
      append: false,
      lastChunk: false,
    }
    const events = artifactEvents(update, eventBytes)
    this.#made.set(artifact, events)
    return events
  }

  async #textFilled(artifact: StoredArtifact): Promise<StoredArtifact> {
    if (!artifact.parts.some(isLargeText)) return artifact
    const fill = async (part: StoredPart): Promise<StoredPart> =>
      isLargeText(part) ? this.#tasks.materialise(part) : part
    return { ...artifact, parts: await Promise.all(artifact.parts.map(fill)) }
  }
}

function isLargeText(part: StoredPart): boolean {
  return isLarge(part) && part.large.field === 'text'
}

function endsStream({ entry }: TaskUpdate): boolean {
  return entry.kind === 'status' && closesStream(entry.status.state)
}

/** A stream also closes when the client is asked something; AUTH_REQUIRED is settled elsewhere and leaves it open. */
function closesStream(state: TaskState): boolean {
  return isTerminal(state) || state === 'TASK_STATE_INPUT_REQUIRED'
}

function* wrapped(events: StreamEvents, wrap: (json: string) => string): Generator<string> {
  for (const json of events) yield wrap(json)
}
