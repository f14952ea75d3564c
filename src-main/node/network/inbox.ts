import { AnetError, isAnetError } from '@shared/errors.ts'
import { type Delivery, encodeBase64Url, type Inner, innerSchema, limits, readStatement } from '@shared/wire/index.ts'
import type { Clock, Log } from '../ports.ts'
import type { FileRef, Store } from '../store/index.ts'
import type { Acknowledger } from './acknowledger.ts'
import { type Admission, HandlerRefusal, type Outcome, type Readied } from './admission.ts'
import type { HeldMessages } from './held.ts'
import { isPermanent, recordRejection } from './rejections.ts'
import type { Opened, Sealing } from './sealing.ts'

/** Smaller envelopes are admitted in the order of their arrival; larger ones must not hold them up. */
const largeEnvelope = 1024 * 1024
const rememberedPreviews = 1024
const logEvery = 60_000

export interface InboxParts {
  readonly store: Store
  readonly sealing: Sealing
  readonly admission: Admission
  readonly held: HeldMessages
  readonly acknowledger: Acknowledger
  readonly clock: Clock
  readonly log: Log
  readonly fault: (name: string) => void
  /** A message could not be taken for a reason of this node: asks for it to be delivered again after a while. */
  readonly again: () => void
}

/** Takes messages from the mailbox: opened at once, admitted one after the other, deleted at the hub after the commit. */
export class Inbox {
  readonly #parts: InboxParts
  readonly #drains = new Map<number, Promise<void>>()
  readonly #running = new Set<Promise<void>>()
  readonly #previews = new Set<string>()
  readonly #logged = new Map<string, number>()
  #order: Promise<unknown> = Promise.resolve()
  #largeOrder: Promise<unknown> = Promise.resolve()

  constructor(parts: InboxParts) {
    this.#parts = parts
  }

  /** True if the hub may delete the message. Never rejects. */
  async receive({ envelope }: Delivery): Promise<boolean> {
    const work = this.#receive(envelope).catch((error: unknown) => {
      this.#temporary(error)
      return false
    })
    return await this.#track(work)
  }

  /** A preview: shown or lost. Never rejects. */
  async receiveEphemeral(envelope: Uint8Array): Promise<void> {
    await this.#track(this.#receivePreview(envelope))
  }

  /** Applies what is held and next in order, and asks for what is missing: at start and when the hub is back. */
  resume(): void {
    const { held, acknowledger } = this.#parts
    for (const channel of held.ready()) this.#drain(channel)
    for (const channel of held.waiting()) acknowledger.received(channel)
  }

  /** Resolves when nothing is being received any more. */
  async idle(): Promise<void> {
    while (this.#running.size > 0 || this.#drains.size > 0) {
      await Promise.allSettled([...this.#running, ...this.#drains.values()])
    }
  }

  async #receive(envelope: Uint8Array): Promise<boolean> {
    let opened: Opened
    try {
      opened = await this.#open(envelope)
    } catch (error) {
      if (!isPermanent(error)) throw error
      await this.#rejectUnopened(error)
      return true
    }
    const outcome = await this.#settle(opened.inner, opened, (tx, readied) =>
      this.#parts.admission.admit(tx, opened, readied),
    )
    this.#parts.fault('inbox.committed')
    if ('channel' in outcome && outcome.channel !== undefined) {
      this.#parts.acknowledger.received(outcome.channel)
      if (outcome.kind === 'applied' || outcome.kind === 'refused') this.#drain(outcome.channel)
    }
    return true
  }

  /** Opening runs beside other openings; the result comes after those of the envelopes before it. */
  async #open(envelope: Uint8Array): Promise<Opened> {
    if (envelope.byteLength > largeEnvelope) {
      const turn = this.#largeOrder.then(() => this.#parts.sealing.open(envelope))
      this.#largeOrder = turn.catch(() => undefined)
      return await turn
    }
    const opening = this.#parts.sealing.open(envelope)
    opening.catch(() => undefined)
    const turn = this.#order.then(() => opening)
    this.#order = turn.catch(() => undefined)
    return await turn
  }

  /** Runs the transaction, and again after what it asked for was done outside of it. */
  async #settle(
    inner: Inner,
    { signed }: Pick<Opened, 'signed'>,
    admit: (tx: Parameters<Admission['admit']>[0], readied: Readied) => Outcome,
  ): Promise<Outcome> {
    const { store, admission, held } = this.#parts
    let readied: Readied = {}
    for (;;) {
      const outcome = await this.#attempt(() => store.write((tx) => admit(tx, readied)))
      if (outcome instanceof AnetError) {
        if (readied.refusal !== undefined) throw new Error('a refusal cannot be recorded', { cause: outcome })
        readied = { ...readied, refusal: outcome }
      } else if (outcome.kind === 'needs_file') readied = { ...readied, file: await held.write(signed) }
      else if (outcome.kind === 'needs_preparation') {
        const value = await this.#attempt(() => admission.prepare(inner))
        readied = value instanceof AnetError ? { ...readied, refusal: value } : { ...readied, prepared: { value } }
      } else {
        if (outcome.kind !== 'held') await this.#discard(readied.file)
        if (outcome.kind === 'refused') this.#log(outcome.code, inner.from)
        return outcome
      }
    }
  }

  /** The result, or the reason why the handler's side refuses the message for good. */
  async #attempt<T>(work: () => Promise<T>): Promise<T | AnetError> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof HandlerRefusal) return error.reason
      if (isPermanent(error)) return error
      throw error
    }
  }

  async #discard(file: FileRef | undefined): Promise<void> {
    if (file !== undefined) await this.#parts.store.content.deleteFile(file.name)
  }

  #drain(channel: number): void {
    if (this.#drains.has(channel)) return
    const drain = this.#drainAll(channel)
      .catch((error: unknown) => this.#temporary(error))
      .finally(() => this.#drains.delete(channel))
    this.#drains.set(channel, drain)
  }

  async #drainAll(channel: number): Promise<void> {
    const { held, admission, acknowledger, fault } = this.#parts
    for (let next = await held.next(channel); next !== undefined; next = await held.next(channel)) {
      const { n, signed } = next
      const inner = readStatement(signed, innerSchema, limits.message.bytes)
      const outcome = await this.#settle(inner, { signed }, (tx, readied) =>
        admission.applyHeld(tx, inner, signed, n, readied),
      )
      fault('inbox.drained')
      if (outcome.kind === 'dropped') return
      acknowledger.received(channel)
    }
  }

  async #receivePreview(envelope: Uint8Array): Promise<void> {
    try {
      const opened = await this.#open(envelope)
      const mid = `${opened.inner.from} ${encodeBase64Url(opened.inner.mid)}`
      if (this.#previews.has(mid)) return
      this.#previews.add(mid)
      const oldest = this.#previews.size > rememberedPreviews ? this.#previews.values().next().value : undefined
      if (oldest !== undefined) this.#previews.delete(oldest)
      const { store, admission } = this.#parts
      await store.write((tx) => admission.admitPreview(tx, opened))
      await store.write((tx) => admission.acknowledgedByPreview(tx, opened.inner), { mayWait: true })
    } catch (error) {
      this.#log(isAnetError(error) ? error.code : 'internal', undefined, isAnetError(error) ? undefined : error)
    }
  }

  async #rejectUnopened(error: AnetError): Promise<void> {
    const { store, clock } = this.#parts
    const { code, message: detail } = error
    await store.write((tx) => recordRejection(tx, { at: clock.now(), code, peer: undefined, mid: undefined, detail }))
    this.#log(code, undefined)
  }

  #temporary(error: unknown): void {
    this.#log(isAnetError(error) ? error.code : 'internal', undefined, error)
    this.#parts.again()
  }

  /** One line per reason and minute: a stranger must not be able to fill the log. */
  #log(code: string, peer: string | undefined, error?: unknown): void {
    const now = this.#parts.clock.now()
    if (now - (this.#logged.get(code) ?? Number.NEGATIVE_INFINITY) < logEvery) return
    this.#logged.set(code, now)
    const fields = { code, ...(peer === undefined ? {} : { peer }), ...(error === undefined ? {} : { err: error }) }
    this.#parts.log.warn(fields, error === undefined ? 'a message was dropped' : 'a message could not be taken yet')
  }

  async #track<T>(work: Promise<T>): Promise<T> {
    const running = work.then(
      () => undefined,
      () => undefined,
    )
    this.#running.add(running)
    try {
      return await work
    } finally {
      this.#running.delete(running)
    }
  }
}
