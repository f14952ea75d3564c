import { protectiveHeaders } from './answer.ts'
import type { Exchange } from './exchange.ts'

/** What of the events waits in node's own buffer before the next one is made. */
const highWater = 1024 * 1024

/**
 * One client's stream of server-sent events. Events are made as the client takes them; a client that lets too much wait is
 * cut off and can subscribe again. Everything is freed when either side closes.
 */
export class EventStream {
  readonly #exchange: Exchange
  readonly #queue: { readonly events: Iterator<string>; readonly bytes: number }[] = []
  readonly #heartbeat: NodeJS.Timeout
  readonly #onClose: () => void
  #queuedBytes = 0
  #ending = false
  #closed = false
  #tokenTimer: NodeJS.Timeout | undefined

  /** Takes a place of the listener before: see {@link Exchange.takeStream}. `onClose` is called once, whoever closes. */
  constructor(exchange: Exchange, options: { headers: readonly string[]; onClose: () => void }) {
    this.#exchange = exchange
    this.#onClose = options.onClose
    const { response, limits } = exchange
    response.once('close', this.#close)
    response.on('drain', this.#pump)
    this.#heartbeat = setInterval(this.#beat, limits.heartbeat)
    if (response.destroyed || response.closed) {
      this.#close()
      return
    }
    response.writeHead(200, ['Content-Type', 'text/event-stream', ...protectiveHeaders, ...options.headers] as string[])
    response.flushHeaders()
  }

  get closed(): boolean {
    return this.#closed
  }

  /**
   * Sends these events, each a JSON text, after those that were pushed before. `bytes` is what they weigh while they
   * wait. Must not be called after {@link end}.
   */
  push(events: Iterable<string>, bytes: number): void {
    if (this.#closed || this.#ending) return
    this.#queue.push({ events: events[Symbol.iterator](), bytes })
    this.#queuedBytes += bytes
    this.#pump()
    if (this.#waiting() > this.#exchange.limits.unsentBytes) this.cutOff()
  }

  /** Closes the stream once everything is sent. */
  end(): void {
    if (this.#closed || this.#ending) return
    this.#ending = true
    this.#pump()
  }

  cutOff(): void {
    if (!this.#closed) this.#exchange.response.destroy()
  }

  /** What waits behind the update that is being sent: that one is made piece by piece and weighs nothing yet. */
  #waiting(): number {
    return this.#queuedBytes - (this.#queue[0]?.bytes ?? 0) + this.#exchange.response.writableLength
  }

  readonly #pump = (): void => {
    const { response } = this.#exchange
    while (!this.#closed && response.writableLength < highWater) {
      const first = this.#queue[0]
      if (first === undefined) {
        if (this.#ending) response.end()
        return
      }
      const next = first.events.next()
      if (next.done === true) {
        this.#queue.shift()
        this.#queuedBytes -= first.bytes
      } else {
        response.write(`data: ${next.value}\n\n`)
      }
    }
  }

  readonly #beat = (): void => {
    const exchange = this.#exchange
    if (exchange.response.writableLength === 0) exchange.response.write(':\n\n')
    if (this.#tokenTimer !== undefined) return
    const end = exchange.tokenEnd(exchange.tokenGeneration)
    if (end !== undefined) this.#tokenTimer = setTimeout(() => this.cutOff(), Math.max(0, end - Date.now()))
  }

  readonly #close = (): void => {
    if (this.#closed) return
    this.#closed = true
    clearInterval(this.#heartbeat)
    clearTimeout(this.#tokenTimer)
    this.#queue.length = 0
    this.#exchange.response.off('drain', this.#pump)
    this.#onClose()
  }
}
