import { AnetError, isAnetError } from '@shared/errors.ts'
import { type Aid, aidSchema, type WireCrypto } from '@shared/wire/index.ts'
import { z } from 'zod'
import type { Identity } from '../identity/index.ts'
import { type Clock, type Log, Topic, type Unsubscribe } from '../ports.ts'
import type { Store } from '../store/index.ts'
import { backoff, jittered, type NetworkTiming } from './backoff.ts'
import { type HubAddress, HubClient } from './hub-client.ts'
import { hubOrigin } from './hub-url.ts'
import { judge, sentences, type Verdict } from './join-sentences.ts'
import { readMeta, writeMeta } from './meta.ts'
import type { Publication } from './publication.ts'
import type { HubSession } from './session.ts'
import type { JoinState } from './types.ts'

/** Where the operator's choice of a hub is kept: the configuration. */
export interface HubSetting {
  get(): HubAddress | undefined
  save(hub: HubAddress): void | Promise<void>
  forget(): void | Promise<void>
}

export interface ConnectionParts {
  readonly store: Store
  readonly identity: Identity
  readonly crypto: WireCrypto
  readonly clock: Clock
  readonly log: Log
  readonly timing: NetworkTiming
  readonly hub: HubSetting
  readonly publication: Publication
  readonly fault: (name: string) => void
  readonly openSession: (client: HubClient) => Promise<HubSession>
  /** The hub can be used from here on, and no longer. */
  readonly usable: (client: HubClient, hub: Aid) => void
  readonly unusable: () => Promise<void>
}

const registrationKey = 'registration'
const registrationSchema = z.object({ hub: aidSchema, name: z.string(), registered: z.boolean() })
type Registration = z.infer<typeof registrationSchema>

/** Keeps this node at its hub: joins, publishes, reads the mailbox, and comes back after every interruption. */
export class Connection {
  readonly #parts: ConnectionParts
  readonly #changes: Topic<JoinState>
  #state: JoinState
  #loop: Promise<void> | undefined
  #stopping = false
  #session: HubSession | undefined
  #client: HubClient | undefined
  /** Counts the wishes to end what is under way: an attempt that was overtaken by one goes no further. */
  #interruptions = 0
  /** Why the session was ended from this side. */
  #ending: unknown
  #wake: () => void = () => {}
  #woken = false
  /** {@link #interruptions} when the attempt under way began. */
  #begunAt = 0
  #redelivery: NodeJS.Timeout | undefined
  #redeliveries = 0
  #redeliveredAt = 0

  constructor(parts: ConnectionParts) {
    this.#parts = parts
    this.#changes = new Topic((error) => parts.log.error({ err: error }, 'a listener of the join state failed'))
    const hub = parts.hub.get()
    this.#state = this.#make(
      hub === undefined ? 'no_hub' : 'joining',
      hub === undefined ? sentences.noHub : sentences.joining,
    )
  }

  get state(): JoinState {
    return this.#state
  }

  onState(listener: (state: JoinState) => void): Unsubscribe {
    return this.#changes.subscribe(listener)
  }

  start(): void {
    if (this.#loop !== undefined) return
    this.#stopping = false
    this.#loop = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping = true
    clearTimeout(this.#redelivery)
    this.#redelivery = undefined
    this.#interrupt(undefined)
    await this.#loop
    this.#loop = undefined
  }

  /** Tries at once, also where only somebody's wish makes it try again. */
  reconnect(): void {
    if (this.#state.state === 'joined') return
    this.#notify()
  }

  /**
   * Opens the session again after a while: what could not be taken is delivered again then. The waits grow as long as
   * it keeps failing.
   */
  redeliver(): void {
    if (this.#redelivery !== undefined) return
    const { timing, clock } = this.#parts
    const now = clock.now()
    if (now - this.#redeliveredAt > 2 * timing.retryMax) this.#redeliveries = 0
    const wait = backoff(this.#redeliveries, timing.retryFirst, timing.retryMax)
    this.#redeliveries += 1
    this.#redelivery = setTimeout(() => {
      this.#redelivery = undefined
      this.#redeliveredAt = clock.now()
      if (this.#session !== undefined) this.#interrupt(undefined)
    }, wait)
    this.#redelivery.unref()
  }

  /** The hub refused this node while a message was sent. */
  trouble(error: unknown): void {
    if (isAnetError(error, 'not_member', 'removed', 'waiting_for_admission')) this.#interrupt(error)
  }

  /**
   * Joins a hub and makes it this node's own. The membership before stays until the new hub has accepted. Errors:
   * `hub_unreachable`, `hub_wrong_identity`, `hub_needs_https`, `hub_url_invalid`, and the hub's refusals.
   */
  async join(input: { url: string; aid?: Aid; invite?: string }): Promise<JoinState> {
    const { hub, publication, fault } = this.#parts
    const url = hubOrigin(input.url)
    const before = hub.get()
    const pinned = input.aid ?? (before?.url === url ? before.aid : undefined)
    const client = this.#newClient({ url, aid: pinned })
    try {
      const info = await client.info()
      const request = await publication.joinRequest()
      const answer = await client.join(input.invite === undefined ? request : { ...request, invite: input.invite })
      fault('join.accepted')
      await publication.joined(info.aid)
      await this.#register({ hub: info.aid, name: info.name, registered: answer === 'member' })
      await hub.save({ url, aid: info.aid })
      fault('join.stored')
    } catch (error) {
      throw isAnetError(error, 'hub_unreachable') ? notJoined(error) : error
    } finally {
      await client.close()
    }
    return await this.#restart()
  }

  /** Leaves the hub: nothing is sent or fetched there any more. The hub keeps what it has until it expires. */
  async leave(): Promise<JoinState> {
    await this.#parts.hub.forget()
    this.#interrupt(undefined)
    this.#notify()
    this.#set('no_hub', sentences.noHub)
    return this.#state
  }

  /** Begins a session with what is configured now and resolves with what it comes to. */
  async #restart(): Promise<JoinState> {
    const settled = new Promise<JoinState>((resolve) => {
      const mark = this.#interruptions
      const unsubscribe = this.onState((state) => {
        if (this.#begunAt <= mark || state.state === 'joining') return
        unsubscribe()
        resolve(state)
      })
    })
    if (this.#loop === undefined) {
      this.#set('joining', sentences.joining)
      return this.#state
    }
    this.#interrupt(undefined)
    this.#notify()
    return await settled
  }

  async #run(): Promise<void> {
    let attempt = 0
    while (!this.#stopping) {
      if (this.#parts.hub.get() === undefined) this.#woken = false
      const address = this.#parts.hub.get()
      if (address === undefined) {
        this.#set('no_hub', sentences.noHub)
        await this.#pause(undefined)
        continue
      }
      const outcome = await this.#attempt(address)
      if (this.#stopping) return
      if (outcome === 'again') continue
      const { verdict, wasJoined } = outcome
      if (wasJoined) attempt = 0
      await this.#pause(this.#waitFor(verdict, outcome.retryAfter, attempt))
      attempt += 1
    }
  }

  /** One stay at the hub, from the first request to the end of the session. */
  async #attempt(
    address: HubAddress,
  ): Promise<'again' | { verdict: Verdict; wasJoined: boolean; retryAfter: number | undefined }> {
    let wasJoined = false
    this.#ending = undefined
    const begunAt = (this.#begunAt = this.#interruptions)
    if (this.#state.state !== 'hub_unreachable' || this.#woken) this.#set('joining', sentences.joining)
    this.#woken = false
    try {
      const client = (this.#client = this.#newClient(address))
      const registration = await this.#enter(client)
      this.#session = await this.#parts.openSession(client)
      if (begunAt !== this.#interruptions) return 'again'
      wasJoined = true
      this.#set('joined', sentences.joined(registration.name))
      this.#parts.usable(client, registration.hub)
      const end = await this.#session.ended
      if (end === 'superseded') return this.#superseded()
      if (end === 'removed') throw new AnetError('removed', 'The operator of the hub removed this agent.')
      if (end === 'closed' && this.#ending === undefined) return 'again'
      throw this.#ending ?? this.#unreachable(end === 'garbage' ? 'sends what is not its protocol' : 'is gone')
    } catch (error) {
      if (this.#stopping || (!wasJoined && begunAt !== this.#interruptions)) return 'again'
      const verdict = judge(error, this.#hubName(address), this.#registered())
      if (!isAnetError(error)) this.#parts.log.error({ err: error }, 'the connection to the hub failed unexpectedly')
      if (verdict.registered !== undefined) await this.#setRegistered(verdict.registered)
      this.#set(verdict.state, verdict.sentence)
      const retryAfter = isAnetError(error, 'rate_limited') ? (error.details?.['retryAfter'] as number) : undefined
      return { verdict, wasJoined, retryAfter }
    } finally {
      this.#session?.close()
      this.#session = undefined
      // what is being sent fails at once and is sent again later
      await Promise.all([this.#parts.unusable(), this.#client?.close()])
      this.#client = undefined
    }
  }

  #superseded(): { verdict: Verdict; wasJoined: boolean; retryAfter: undefined } {
    const sentence = sentences.superseded
    const verdict: Verdict = { state: 'running_elsewhere', sentence, retry: 'never', registered: undefined }
    this.#set(verdict.state, sentence)
    return { verdict, wasJoined: true, retryAfter: undefined }
  }

  /** Makes sure that the hub is the right one, that this node is a member, and that its statements are there. */
  async #enter(client: HubClient): Promise<Registration> {
    const { identity, publication, clock, fault } = this.#parts
    const info = await client.info()
    await identity.rotateEncryptionKeys(clock.now())
    const stored = this.#registration()
    if (stored?.hub !== info.aid || !stored.registered) {
      if ((await client.join(await publication.joinRequest())) === 'waiting') {
        throw new AnetError('waiting_for_admission', sentences.waiting)
      }
      fault('join.accepted')
      await publication.joined(info.aid)
    }
    await publication.sync(client, info.aid)
    const registration = { hub: info.aid, name: info.name, registered: true }
    await this.#register(registration)
    return registration
  }

  #waitFor({ retry, state }: Verdict, retryAfter: number | undefined, attempt: number): number | undefined {
    const { timing } = this.#parts
    if (retry === 'never') return undefined
    if (state === 'waiting_for_admission') return jittered(timing.admissionEvery)
    return Math.max(
      retryAfter ?? 0,
      retry === 'slowly' ? jittered(timing.retryMax) : backoff(attempt, timing.retryFirst, timing.retryMax),
    )
  }

  /** Waits for the time to pass or for somebody to ask. Undefined: only the latter. */
  async #pause(ms: number | undefined): Promise<void> {
    if (this.#woken || this.#stopping) return
    await new Promise<void>((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(resolve, ms)
      timer?.unref()
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#wake = () => {}
  }

  #notify(): void {
    this.#woken = true
    this.#wake()
  }

  #interrupt(ending: unknown): void {
    this.#interruptions += 1
    this.#ending = ending
    if (this.#session !== undefined) this.#session.close()
    else void this.#client?.close()
    this.#wake()
  }

  #newClient(address: { url: string; aid: Aid | undefined }): HubClient {
    const { identity, crypto, clock, timing } = this.#parts
    return new HubClient({
      origin: hubOrigin(address.url),
      aid: address.aid,
      signingKey: () => identity.signingKey,
      crypto,
      clock,
      answerWithin: timing.answerWithin,
    })
  }

  #registration(): Registration | undefined {
    return readMeta(this.#parts.store.read, registrationKey, registrationSchema)
  }

  #registered(): boolean {
    const stored = this.#registration()
    return stored !== undefined && stored.hub === this.#parts.hub.get()?.aid && stored.registered
  }

  async #register(registration: Registration): Promise<void> {
    const stored = this.#registration()
    if (
      stored?.hub === registration.hub &&
      stored.name === registration.name &&
      stored.registered === registration.registered
    )
      return
    await this.#parts.store.write((tx) => writeMeta(tx, registrationKey, registration))
  }

  async #setRegistered(registered: boolean): Promise<void> {
    const stored = this.#registration()
    if (stored !== undefined) await this.#register({ ...stored, registered })
  }

  #hubName(address: HubAddress): string {
    const stored = this.#registration()
    return stored?.hub === address.aid && stored.name !== '' ? stored.name : address.url
  }

  #unreachable(what: string): AnetError {
    return new AnetError('hub_unreachable', `The hub ${this.#parts.hub.get()?.url ?? ''} ${what}.`)
  }

  #make(state: JoinState['state'], sentence: string): JoinState {
    const address = this.#parts.hub.get()
    const hub = address === undefined ? undefined : { ...address, name: this.#hubName(address) }
    return { state, registered: this.#registered(), sentence, hub, since: this.#parts.clock.now() }
  }

  /** One line in the log and one event per change, however often an attempt is repeated. */
  #set(state: JoinState['state'], sentence: string): void {
    const next = this.#make(state, sentence)
    const { state: before, registered, hub } = this.#state
    if (
      before === state &&
      registered === next.registered &&
      this.#state.sentence === sentence &&
      hub?.aid === next.hub?.aid &&
      hub?.name === next.hub?.name
    )
      return
    this.#state = before === state ? { ...next, since: this.#state.since } : next
    this.#parts.log.info({ state, registered: next.registered, hub: next.hub?.url }, sentence)
    this.#changes.publish(this.#state)
  }
}

/** A join is one attempt: unlike a session with the hub that a node has, nothing repeats it. */
function notJoined({ code, message, details, cause }: AnetError): AnetError {
  return new AnetError(code, message, {
    remedy: 'Nothing has changed. See that the hub runs and its address is right, then join again.',
    cause,
    ...(details === undefined ? {} : { details }),
  })
}
