import { AnetError } from '@shared/errors.ts'
import {
  acknowledgeRequestSchema,
  type AgentRecord,
  agentRecordSchema,
  type Aid,
  type Delivery,
  type DirectoryQuery,
  encodeCbor,
  type HubInfo,
  hubInfoSchema,
  hubPaths,
  joinAnswerSchema,
  type joinRequestSchema,
  limits,
  pollAnswerSchema,
  type publishRequestSchema,
  searchAnswerSchema,
  sendAnswerSchema,
  verifyHistory,
  type WireCrypto,
} from '@shared/wire/index.ts'
import { z } from 'zod'
import { HubHttp, type HubHttpParts } from './hub-http.ts'
import { openMailbox, type Mailbox, type MailboxEvents } from './mailbox.ts'

export interface HubAddress {
  readonly url: string
  readonly aid: Aid
}

export type JoinRequest = z.infer<typeof joinRequestSchema>
export type PublishRequest = z.infer<typeof publishRequestSchema>

const smallAnswer = 64 * 1024
const recordBytes = limits.history.bytes + limits.keySet.bytes + limits.card.bytes + 64 * 1024
/** Records asked for at once: a page of the largest cards stays below 16 MiB. */
export const searchPage = 40
const anything = z.unknown()

/** The hub's API, version 1, as one node uses it (src-shared/wire/hub-api.ts). Errors: see {@link HubHttp}. */
export class HubClient {
  readonly url: string
  readonly #crypto: WireCrypto
  readonly #http: HubHttp
  readonly #closing = new AbortController()
  #aid: Aid | undefined

  constructor(parts: Omit<HubHttpParts, 'aid'> & { aid: Aid | undefined }) {
    this.url = parts.origin
    this.#crypto = parts.crypto
    this.#aid = parts.aid
    this.#http = new HubHttp({ ...parts, aid: () => this.#aid })
  }

  /** The AID that every request is signed for, once it is pinned. */
  get aid(): Aid | undefined {
    return this.#aid
  }

  /**
   * Asks the hub who it is, before anything is sent to it. A hub that is not the pinned one, or whose history does not
   * verify, is `hub_wrong_identity`. Without a pinned AID the answer is pinned from here on.
   */
  async info(): Promise<HubInfo> {
    const info = await this.#http.call({
      method: 'GET',
      path: hubPaths.info,
      anonymous: true,
      answer: hubInfoSchema,
      maxBytes: limits.history.bytes * 2 + smallAnswer,
    })
    try {
      verifyHistory(this.#crypto, info.history, info.aid)
    } catch (cause) {
      throw wrongIdentity(`The hub ${this.url} cannot prove the identity that it claims.`, cause)
    }
    if (this.#aid !== undefined && this.#aid !== info.aid) {
      throw wrongIdentity(`The hub ${this.url} is ${info.aid}, not ${this.#aid} as this node knows it.`)
    }
    if (!info.versions.includes(1)) {
      throw new AnetError('hub_version_unknown', `The hub ${this.url} does not speak version 1 of the protocol.`, {
        remedy: 'Update ANet.',
      })
    }
    this.#aid = info.aid
    return info
  }

  /** `member` or `waiting`. Errors of its own: `invite_required`, `invite_invalid`, `removed`, `rollback`, `fork`. */
  async join(request: JoinRequest): Promise<'member' | 'waiting'> {
    const path = hubPaths.join
    const answer = await this.#http.call({
      method: 'POST',
      path,
      body: request,
      answer: joinAnswerSchema,
      maxBytes: smallAnswer,
    })
    return answer.state
  }

  async publish(request: PublishRequest): Promise<void> {
    await this.#post(hubPaths.publish, request, anything, smallAnswer)
  }

  /** What the hub has of one agent, not yet verified. Errors of its own: `unknown_agent`. */
  async lookup(aid: Aid): Promise<AgentRecord> {
    return await this.#post(hubPaths.lookup, { aid }, agentRecordSchema, recordBytes)
  }

  /** One page of the directory, not yet verified. */
  async search(query: DirectoryQuery): Promise<z.infer<typeof searchAnswerSchema>> {
    return await this.#post(hubPaths.search, query, searchAnswerSchema, recordBytes * (query.limit ?? searchPage))
  }

  /** Resolves once the hub has the envelope on its disk, or, ephemeral, has handed it on or dropped it. */
  async send(envelope: Uint8Array, options: { ephemeral?: boolean; signal?: AbortSignal } = {}): Promise<boolean> {
    const answer = await this.#http.call({
      method: 'POST',
      path: options.ephemeral === true ? `${hubPaths.send}?ephemeral=1` : hubPaths.send,
      body: envelope,
      answer: sendAnswerSchema,
      maxBytes: smallAnswer,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    })
    return answer.stored
  }

  async poll(waitMs: number, max: number, signal: AbortSignal): Promise<readonly Delivery[]> {
    const answer = await this.#http.call({
      method: 'POST',
      path: hubPaths.poll,
      body: { waitMs, max },
      answer: pollAnswerSchema,
      maxBytes: limits.message.envelopeBytes + 32 * 1024 * 1024,
      waits: waitMs,
      signal,
    })
    return answer.deliveries
  }

  async acknowledge(ids: readonly string[]): Promise<void> {
    const body = acknowledgeRequestSchema.parse({ ids })
    await this.#post(hubPaths.acknowledge, body, anything, smallAnswer)
  }

  /** Opens the mailbox over a WebSocket. Errors: as of every call. */
  async mailbox(events: MailboxEvents, options: { pingEvery: number; answerWithin: number }): Promise<Mailbox> {
    const url = `${this.url.replace(/^http/, 'ws')}${hubPaths.mailbox}`
    return await openMailbox({
      url,
      headers: this.#http.authorization('GET', hubPaths.mailbox),
      unreachable: (why, what, cause) => this.#http.unreachable(why, what, cause),
      events,
      signal: this.#closing.signal,
      ...options,
    })
  }

  /** Everything that is under way fails. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#http.close()
  }

  async #post<S extends z.ZodType>(path: string, body: unknown, answer: S, maxBytes: number): Promise<z.infer<S>> {
    return await this.#http.call({ method: 'POST', path, body: encodeCbor(body), answer, maxBytes })
  }
}

function wrongIdentity(message: string, cause?: unknown): AnetError {
  return new AnetError('hub_wrong_identity', message, {
    remedy: "Nothing was sent to it. Ask its operator for the hub's AID and join with that, or join another hub.",
    ...(cause === undefined ? {} : { cause }),
  })
}
