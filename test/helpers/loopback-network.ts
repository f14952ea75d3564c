import { AnetError, isAnetError } from '@shared/errors.ts'
import { type Aid, type Body, decodeBody, encodeBody, type Inner, type MessageType } from '@shared/wire/index.ts'
import type { Peer } from '../../src-main/node/identity/index.ts'
import type {
  Handler,
  JoinState,
  Network,
  Prepare,
  PreparedBody,
  Received,
  TaskKey,
} from '../../src-main/node/network/index.ts'
import type { Clock } from '../../src-main/node/ports.ts'
import { inlineLimit, type Store, type Tx } from '../../src-main/node/store/index.ts'

interface Mail {
  readonly from: Aid
  readonly to: Aid
  readonly type: MessageType
  readonly task: TaskKey
  /** Undefined for previews. */
  readonly n: number | undefined
  readonly bytes: Uint8Array
}

type Registration = { handler: Handler<MessageType, unknown>; prepare: Prepare<MessageType, unknown> | undefined }

/**
 * What lies between the nodes of a test: keeps every message until it was handled, delivers in order of `n` within a
 * task and at least once. A test may hold messages back and have them delivered twice.
 */
export class Loopback {
  readonly #nodes = new Map<Aid, LoopbackNetwork>()
  readonly #mail: Mail[] = []
  #running: Promise<void> | undefined
  #held = false
  /** Delivers every message twice. */
  twice = false

  add(aid: Aid, network: LoopbackNetwork): void {
    this.#nodes.set(aid, network)
  }

  knows(aid: Aid): boolean {
    return this.#nodes.has(aid)
  }

  /** Stops delivering until {@link release}. */
  hold(): void {
    this.#held = true
  }

  release(): void {
    this.#held = false
    this.#pump()
  }

  post(mail: Mail): void {
    this.#mail.push(mail)
    this.#pump()
  }

  /** Messages on the way about this task, from this node. */
  waiting(from: Aid, task: TaskKey): number {
    return this.#mail.filter((mail) => mail.from === from && mail.task.id === task.id).length
  }

  /** Resolves when every message has been handled, and those that they caused. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  #pump(): void {
    if (this.#held || this.#running !== undefined) return
    this.#running = this.#deliverAll().finally(() => {
      this.#running = undefined
    })
  }

  /** Ends when nothing is left, or when the next message has to wait. */
  async #deliverAll(): Promise<void> {
    for (let mail = this.#mail[0]; mail !== undefined && !this.#held; mail = this.#mail[0]) {
      const sender = this.#nodes.get(mail.from)
      const receiver = this.#nodes.get(mail.to)
      if (sender?.reachable !== true || receiver?.reachable !== true) return
      await sender.progressed(mail.task, mail.n, 'sent')
      for (let round = 0; round < (this.twice ? 2 : 1); round += 1) await receiver.receive(mail)
      this.#mail.shift()
      await sender.progressed(mail.task, mail.n, 'delivered')
    }
  }
}

/** The network's door over a {@link Loopback}: real bodies, real transactions, no hub and no sealing. */
export class LoopbackNetwork implements Pick<
  Network,
  | 'joinState'
  | 'on'
  | 'enqueue'
  | 'prepareBody'
  | 'smallBody'
  | 'sendPreview'
  | 'openChannel'
  | 'onProgress'
  | 'unconfirmed'
> {
  readonly #own: Aid
  readonly #store: Store
  readonly #clock: Clock
  readonly #between: Loopback
  readonly #handlers = new Map<MessageType, Registration>()
  /** Numbers given and received: what a real network keeps over a restart. */
  readonly numbers: { readonly sent: Map<string, number>; readonly received: Map<string, number> }
  #onProgress: Parameters<Network['onProgress']>[0] = () => {}
  state: JoinState['state'] = 'joined'
  /** Codes of messages that were refused for good, in order. */
  readonly refused: string[] = []
  /** Since when something waits, for tasks that a test says so of. */
  readonly oldest = new Map<string, number>()

  constructor(options: {
    own: Aid
    store: Store
    clock: Clock
    between: Loopback
    /** The numbers of an earlier run of the same node. */
    numbers?: LoopbackNetwork['numbers']
  }) {
    this.#own = options.own
    this.#store = options.store
    this.#clock = options.clock
    this.#between = options.between
    this.numbers = options.numbers ?? { sent: new Map<string, number>(), received: new Map<string, number>() }
    this.#between.add(this.#own, this)
  }

  get reachable(): boolean {
    return this.state === 'joined'
  }

  get joinState(): JoinState {
    const registered = this.state === 'joined' || this.state === 'hub_unreachable'
    const sentence = registered ? 'Joined.' : 'This node has not joined a hub: use "anet join URL" or the Settings.'
    return { state: this.state, registered, sentence, hub: undefined, since: 0 }
  }

  /** The connection to the hub is lost or comes back. */
  setState(state: JoinState['state']): void {
    this.state = state
    if (state === 'joined') this.#between.release()
  }

  readonly directory = {
    get: (aid: Aid) =>
      this.#between.knows(aid) && aid !== this.#own
        ? { aid, lastSeen: 0, peer: { aid, forked: false, history: { key: new Uint8Array(32) } } as unknown as Peer }
        : undefined,
    lookup: async (aid: Aid): Promise<never> => {
      throw new AnetError('unknown_agent', `The hub does not know the agent ${aid}.`)
    },
  }

  on<T extends MessageType, P>(type: T, handler: Handler<T, P>, prepare?: Prepare<T, P>): void {
    this.#handlers.set(type, { handler, prepare } as unknown as Registration)
  }

  onProgress(listener: Parameters<Network['onProgress']>[0]): void {
    this.#onProgress = listener
  }

  openChannel(): void {}

  async prepareBody<T extends MessageType>(type: T, body: Body<T>): Promise<PreparedBody<T>> {
    return encodeBody(type, body) as unknown as PreparedBody<T>
  }

  smallBody<T extends MessageType>(type: T, body: Body<T>): PreparedBody<T> {
    return encodeBody(type, body) as unknown as PreparedBody<T>
  }

  enqueue<T extends MessageType>(tx: Tx, message: { to: Aid; type: T; task: TaskKey; body: PreparedBody<T> }): void {
    const { to, type, task } = message
    const bytes = message.body as unknown as Uint8Array
    tx.afterCommit(() => {
      const n = this.numbers.sent.get(task.id) ?? 0
      this.numbers.sent.set(task.id, n + 1)
      this.#between.post({ from: this.#own, to, type, task, n, bytes })
    })
  }

  sendPreview(to: Aid, task: TaskKey, body: Body<'task.preview'>): void {
    const bytes = encodeBody('task.preview', body)
    this.#between.post({ from: this.#own, to, type: 'task.preview', task, n: undefined, bytes })
  }

  unconfirmed(task: TaskKey): { count: number; oldest: number | undefined } {
    const count = this.#between.waiting(this.#own, task)
    return { count, oldest: this.oldest.get(task.id) ?? (count > 0 ? this.#clock.now() : undefined) }
  }

  async progressed(task: TaskKey, n: number | undefined, kind: 'sent' | 'delivered'): Promise<void> {
    if (n === 0) await this.#store.write((tx) => this.#onProgress(tx, { task, kind }))
  }

  /** Applies a message once, in order; what the handler refuses for good is recorded and dropped. */
  async receive({ from, type, task, n, bytes }: Mail): Promise<void> {
    const lane = `${from} ${task.requester} ${task.id}`
    const received = this.numbers.received.get(lane) ?? -1
    if (n !== undefined && n <= received) return
    if (n !== undefined && n !== received + 1) throw new Error(`message ${n} came after ${received}`)
    const registration = this.#handlers.get(type)
    if (registration === undefined) throw new Error(`nothing handles ${type}`)
    const message = { from, type, task, body: decodeBody(type, bytes), inner: {} as Inner, peer: {} as Peer }
    try {
      const large = bytes.byteLength > inlineLimit
      const prepared = large ? await registration.prepare?.(message as Received) : undefined
      await this.#store.write((tx) => registration.handler(tx, message as Received, prepared))
    } catch (error) {
      if (!isAnetError(error)) throw error
      this.refused.push(error.code)
    }
    if (n !== undefined) this.numbers.received.set(lane, n)
  }
}
