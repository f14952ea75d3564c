import * as nodeCrypto from 'node:crypto'
import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { z } from 'zod'
import {
  type AgentRecord,
  agentRecordSchema,
  type Aid,
  authHeader,
  cidOf,
  createInception,
  decodeCbor,
  encodeCbor,
  encodeEnvelope,
  hubErrorSchema,
  hubPaths,
  mailboxFrameSchema,
  type KeyHistory,
  pollAnswerSchema,
  searchAnswerSchema,
  type Signed,
  type SigningKey,
  signHubRequest,
  signStatement,
  statementId,
  wireCrypto,
} from '@shared/wire/index.ts'

export const crypto = wireCrypto(nodeCrypto)
const maxBytes = 128 * 1024 * 1024
const day = 24 * 60 * 60_000

export interface HubAnswer {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Uint8Array
}

export type Frame = z.infer<typeof mailboxFrameSchema>

/** A refusal's code, or undefined for a success. */
export function errorCode(answer: HubAnswer): string | undefined {
  return answer.status < 400 ? undefined : hubErrorSchema.parse(decodeCbor(answer.bytes, maxBytes)).error.code
}

export function decoded(answer: HubAnswer): unknown {
  if (answer.status !== 200) throw new Error(`${answer.status} ${errorCode(answer)}`)
  return decodeCbor(answer.bytes, maxBytes)
}

/** An agent that speaks to a hub with nothing but the wire formats: real keys, real signatures, real sockets. */
export class HubAgent {
  readonly aid: Aid
  readonly hub: { url: string; aid: Aid }
  history: KeyHistory
  key: SigningKey
  /** The agent's clock. */
  now: () => number
  #next: Uint8Array
  #seq: number

  constructor(hub: { url: string; aid: Aid }, now: () => number = Date.now) {
    const privateKey = crypto.randomBytes(32)
    this.#next = crypto.randomBytes(32)
    const { aid, statement } = createInception(crypto, {
      privateKey,
      nextCommitment: crypto.sha256(crypto.ed25519PublicKey(this.#next)),
      at: now(),
    })
    this.aid = aid
    this.hub = { url: hub.url, aid: hub.aid }
    this.history = [statement]
    this.key = { aid, ksn: 0, privateKey }
    this.now = now
    this.#seq = now()
  }

  /** Extends the history; `emergency` signs with the revealed key only. */
  rotate(options: { emergency?: boolean } = {}): void {
    const before = this.key
    const ksn = before.ksn + 1
    const next = crypto.randomBytes(32)
    const revealed: SigningKey = { aid: this.aid, ksn, privateKey: this.#next }
    const value = {
      type: 'rotation',
      aid: this.aid,
      seq: ksn,
      prev: headOf(this.history),
      key: crypto.ed25519PublicKey(this.#next),
      next: crypto.sha256(crypto.ed25519PublicKey(next)),
      at: this.now(),
      ...(options.emergency === true ? { emergency: true } : {}),
    }
    const keys = options.emergency === true ? [revealed] : [revealed, before]
    this.history = [...this.history, signStatement(crypto, 'key-history', value, keys)]
    this.key = revealed
    this.#next = next
  }

  /** Ends the identity; requests are still signed with the key before. */
  deactivate(): void {
    const ksn = this.key.ksn + 1
    const value = {
      type: 'deactivation',
      aid: this.aid,
      seq: ksn,
      prev: headOf(this.history),
      key: crypto.ed25519PublicKey(this.#next),
      next: null,
      at: this.now(),
    }
    const revealed: SigningKey = { aid: this.aid, ksn, privateKey: this.#next }
    this.history = [...this.history, signStatement(crypto, 'key-history', value, [revealed])]
  }

  /** Another agent object of the same identity, as a copy of its keys would be. */
  clone(): HubAgent {
    const copy = new HubAgent(this.hub, this.now)
    return Object.assign(copy, { aid: this.aid, history: this.history, key: this.key }).#withNext(this.#next)
  }

  #withNext(next: Uint8Array): this {
    this.#next = next
    return this
  }

  keyset(seq = (this.#seq += 1)): Signed {
    const now = this.now()
    const key = { suite: 'x25519-sha256-aes256gcm', key: crypto.randomBytes(32), from: now, until: now + 14 * day }
    const keys = [{ kid: nodeCrypto.randomBytes(8).toString('hex'), ...key }]
    return signStatement(crypto, 'key-set', { aid: this.aid, seq, at: now, keys }, [this.key])
  }

  card(
    card: {
      name?: string
      description?: string
      skills?: { id: string; tags?: string[]; description?: string }[]
    } = {},
    options: { seq?: number; exp?: number } = {},
  ): Signed {
    const now = this.now()
    const json = {
      name: card.name ?? 'Agent',
      description: card.description ?? '',
      supportedInterfaces: [],
      version: '1',
      capabilities: {},
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: (card.skills ?? []).map((skill) => ({
        id: skill.id,
        name: skill.id,
        description: skill.description ?? '',
        tags: skill.tags ?? [],
      })),
    }
    const value = {
      aid: this.aid,
      seq: options.seq ?? (this.#seq += 1),
      issuedAt: now,
      exp: options.exp ?? now + 7 * day,
      card: new TextEncoder().encode(JSON.stringify(json)),
    }
    return signStatement(crypto, 'card', value, [this.key])
  }

  withdrawal(seq = (this.#seq += 1)): Signed {
    return signStatement(crypto, 'card-withdrawal', { aid: this.aid, seq, at: this.now() }, [this.key])
  }

  sign(path: string, body: Uint8Array, method = 'POST'): string {
    return signHubRequest(crypto, this.key, { hub: this.hub.aid, time: this.now(), method, path, body })
  }

  async post(path: string, body: unknown, header?: string): Promise<HubAnswer> {
    const bytes = body instanceof Uint8Array ? body : encodeCbor(body)
    return request(this.hub.url, 'POST', path, bytes, { [authHeader]: header ?? this.sign(path, bytes) })
  }

  async join(extra: { card?: Signed; invite?: string; keyset?: Signed } = {}): Promise<HubAnswer> {
    return this.post(hubPaths.join, { history: this.history, keyset: this.keyset(), ...extra })
  }

  publish(statements: {
    history?: KeyHistory
    keyset?: Signed
    card?: Signed
    withdrawal?: Signed
  }): Promise<HubAnswer> {
    return this.post(hubPaths.publish, statements)
  }

  async search(query: object = {}): Promise<z.infer<typeof searchAnswerSchema>> {
    return searchAnswerSchema.parse(decoded(await this.post(hubPaths.search, query)))
  }

  async lookup(aid: Aid): Promise<AgentRecord> {
    return agentRecordSchema.parse(decoded(await this.post(hubPaths.lookup, { aid })))
  }

  send(to: Aid, ciphertext: Uint8Array = crypto.randomBytes(64), query = ''): Promise<HubAnswer> {
    return this.post(`${hubPaths.send}${query}`, envelopeTo(to, ciphertext))
  }

  async poll(waitMs = 0, max = 256): Promise<{ id: string; envelope: Uint8Array }[]> {
    return pollAnswerSchema.parse(decoded(await this.post(hubPaths.poll, { waitMs, max }))).deliveries
  }

  acknowledge(ids: readonly string[]): Promise<HubAnswer> {
    return this.post(hubPaths.acknowledge, { ids })
  }

  /** Opens the mailbox; rejects with the refusal as `HubAnswer` in `cause`. */
  async open(): Promise<AgentSession> {
    const path = hubPaths.mailbox
    const socket = new WebSocket(`${this.hub.url.replace(/^http/, 'ws')}${path}`, {
      headers: { [authHeader]: this.sign(path, new Uint8Array(), 'GET') },
    })
    const session = new AgentSession(socket)
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve)
      socket.once('error', reject)
      socket.once('unexpected-response', (_request, response) => {
        const pieces: Buffer[] = []
        response.on('data', (piece: Buffer) => pieces.push(piece))
        response.on('end', () => {
          const answer: HubAnswer = {
            status: response.statusCode ?? 0,
            headers: new Headers(),
            bytes: new Uint8Array(Buffer.concat(pieces)),
          }
          reject(new Error(`refused: ${errorCode(answer)}`, { cause: answer }))
        })
      })
    })
    return session
  }
}

/** The agent's end of a mailbox session. Frames wait here until the test asks for them. */
export class AgentSession {
  readonly socket: WebSocket
  readonly frames: Frame[] = []
  readonly closed: Promise<number>
  #wake: () => void = () => {}

  constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('message', (data: Buffer) => {
      this.frames.push(mailboxFrameSchema.parse(decodeCbor(new Uint8Array(data), maxBytes)))
      this.#wake()
    })
    this.closed = new Promise((resolve) => {
      socket.once('close', (code) => {
        resolve(code)
        this.#wake()
      })
    })
  }

  /** The next frame; rejects if the session ends first. */
  async next(): Promise<Frame> {
    while (this.frames.length === 0) {
      if (this.socket.readyState >= WebSocket.CLOSING) throw new Error('the session ended')
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    const [frame] = this.frames.splice(0, 1)
    if (frame === undefined) throw new Error('no frame')
    return frame
  }

  async nextDelivery(): Promise<{ id: string; envelope: Uint8Array }> {
    const frame = await this.next()
    if (frame.type !== 'deliver') throw new Error(`a ${frame.type} frame came`)
    return frame.delivery
  }

  acknowledge(...ids: readonly string[]): void {
    this.socket.send(encodeCbor({ type: 'ack', ids }))
  }

  async close(): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return
    this.socket.close()
    await once(this.socket, 'close')
  }
}

export function envelopeTo(to: Aid, ciphertext: Uint8Array = crypto.randomBytes(64)): Uint8Array {
  return encodeEnvelope({
    p: 'anet/1',
    to,
    suite: 'x25519-sha256-aes256gcm',
    kid: '0123456789abcdef',
    enc: crypto.randomBytes(32),
    ct: ciphertext,
  })
}

export async function request(
  url: string,
  method: string,
  path: string,
  body: Uint8Array | undefined,
  headers: Record<string, string>,
): Promise<HubAnswer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: Buffer.from(body) }),
  })
  return { status: response.status, headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) }
}

export function unknownAid(): Aid {
  return cidOf(crypto, crypto.randomBytes(32))
}

function headOf(history: KeyHistory): string {
  const last = history.at(-1)
  if (last === undefined) throw new Error('an empty history')
  return statementId(crypto, last)
}

/** For comparing statements: their bytes, whatever kind of array holds them. */
export function encoded(value: unknown): string {
  return Buffer.from(encodeCbor(value)).toString('hex')
}
