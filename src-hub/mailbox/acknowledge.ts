import type { Aid } from '@shared/wire/index.ts'
import type { WriteOptions } from '@shared/sql/index.ts'
import type { HubParts } from '../parts.ts'

const maxPending = 4096

type AcknowledgeParts = Pick<HubParts, 'store' | 'shares' | 'metrics' | 'log'>

/** Deletes what an agent has taken over. Ids that are not its own, or not there any more, change nothing. */
export async function acknowledge(
  parts: AcknowledgeParts,
  aid: Aid,
  ids: readonly number[],
  waiting?: WriteOptions,
): Promise<void> {
  if (ids.length === 0) return
  const deleted = await parts.store.deleteMail(aid, ids, waiting)
  parts.shares.release(deleted)
  parts.metrics.acknowledged.add(deleted.length)
}

/** Acknowledgements of a session: those that come while others are being written go together in the next write. */
export class Acknowledger {
  readonly #parts: AcknowledgeParts
  readonly #aid: Aid
  #next: number[] | undefined
  #nextDone: Promise<void> = Promise.resolve()

  constructor(parts: AcknowledgeParts, aid: Aid) {
    this.#parts = parts
    this.#aid = aid
  }

  /** Undefined, or what the caller has to wait for before it hands in more: nothing piles up that cannot be written. */
  add(ids: readonly number[]): Promise<void> | undefined {
    if (this.#next === undefined) {
      this.#next = [...ids]
      this.#nextDone = this.#nextDone.then(() => this.#write())
    } else {
      this.#next.push(...ids)
    }
    return this.#next.length > maxPending ? this.#nextDone : undefined
  }

  async #write(): Promise<void> {
    const ids = this.#next ?? []
    this.#next = undefined
    try {
      // until then they would at worst be delivered again
      await acknowledge(this.#parts, this.#aid, ids, { mayWait: true })
    } catch (error) {
      // they stay, and are delivered again to the next session
      this.#parts.log.error({ err: error }, 'Acknowledged messages could not be deleted')
    }
  }
}
