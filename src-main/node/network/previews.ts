import { type Aid, type Body, encodeBody, limits } from '@shared/wire/index.ts'
import type { Clock } from '../ports.ts'
import type { Store } from '../store/index.ts'
import { channelOf } from './channels.ts'
import type { Courier } from './courier.ts'
import type { TaskKey } from './types.ts'

/** A preview is of no use to anybody who was not there when it was written. */
const validFor = 60_000

interface Stream {
  readonly to: Aid
  readonly task: TaskKey
  next: Body<'task.preview'> | undefined
}

export interface PreviewsParts {
  readonly store: Store
  readonly courier: Courier
  readonly clock: Clock
}

/**
 * Replies still being written, sealed like every message and sent without being kept. One is under way per task; of
 * those that come meanwhile only the newest is sent, because each holds the whole reply so far.
 */
export class Previews {
  readonly #parts: PreviewsParts
  readonly #streams = new Map<string, Stream>()

  constructor(parts: PreviewsParts) {
    this.#parts = parts
  }

  send(to: Aid, task: TaskKey, body: Body<'task.preview'>): void {
    if (!this.#parts.courier.ready) return
    const name = `${task.requester} ${task.id}`
    const running = this.#streams.get(name)
    if (running !== undefined) {
      running.next = body
      return
    }
    const stream: Stream = { to, task, next: body }
    this.#streams.set(name, stream)
    void this.#run(stream).finally(() => this.#streams.delete(name))
  }

  async #run(stream: Stream): Promise<void> {
    for (let body = stream.next; body !== undefined; body = stream.next) {
      stream.next = undefined
      try {
        await this.#sendOne(stream, body)
      } catch {
        // lost previews are not missed: the reply itself follows in the outbox
      }
    }
  }

  async #sendOne({ to, task }: Stream, body: Body<'task.preview'>): Promise<void> {
    const { store, courier, clock } = this.#parts
    const encoded = encodeBody('task.preview', body)
    const channel = channelOf(store.read, task)
    if (encoded.byteLength > limits.previewBytes || channel?.peer !== to) return
    const ts = clock.now()
    const envelope = await courier.seal(
      {
        to,
        type: 'task.preview',
        task: task.id,
        requester: task.requester,
        ack: channel.received,
        mid: courier.newMid(),
        ts,
        exp: ts + validFor,
      },
      encoded,
    )
    await courier.hand(envelope, true)
  }
}
