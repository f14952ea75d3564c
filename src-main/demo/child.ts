import { AnetError } from '@shared/errors.ts'
import { replySchema } from './child-protocol.ts'
import type { DemoProcess } from './process.ts'

const stopTimeoutMs = 5_000

/** A process of the demo and the calls to it. */
export class Child {
  readonly #process: DemoProcess
  readonly #name: string
  readonly #calls = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>()
  #nextId = 0
  #hasEnded = false
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>

  constructor(process: DemoProcess, name: string) {
    this.#process = process
    this.#name = name
    process.onMessage((message) => this.#receive(message))
    this.ended = new Promise((resolve) => {
      process.onEnd(() => {
        this.#hasEnded = true
        for (const call of this.#calls.values()) call.reject(this.#gone())
        this.#calls.clear()
        resolve()
      })
    })
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** Error: what the process answered, or `demo_process_ended`. */
  call(method: string, input: unknown): Promise<unknown> {
    if (this.#hasEnded) return Promise.reject(this.#gone())
    const id = this.#nextId++
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject })
      this.#process.send({ id, method, input })
    })
  }

  /** Asks it to end, and ends it when it does not. */
  async stop(): Promise<void> {
    if (this.#hasEnded) return
    this.#process.send({ id: this.#nextId++, method: 'stop', input: {} })
    const timer = setTimeout(() => this.#process.kill(), stopTimeoutMs)
    await this.ended
    clearTimeout(timer)
  }

  #gone(): AnetError {
    return new AnetError('demo_process_ended', `The process "${this.#name}" of the demo ended.`, {
      remedy: 'Its messages are in the folder logs of the demo.',
    })
  }

  #receive(message: unknown): void {
    const reply = replySchema.safeParse(message)
    if (!reply.success) return
    const call = this.#calls.get(reply.data.id)
    this.#calls.delete(reply.data.id)
    if (call === undefined) return
    if ('error' in reply.data) {
      const { code, message: text, remedy } = reply.data.error
      call.reject(new AnetError(code, text, remedy === undefined ? {} : { remedy }))
    } else {
      call.resolve(reply.data.value)
    }
  }
}
