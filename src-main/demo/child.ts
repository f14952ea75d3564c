import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { AnetError } from '@shared/errors.ts'
import { replySchema } from './child-protocol.ts'

/** Starts one process of the demo. The only place that knows how: under Electron it is another. */
export function createProcess(entry: URL, errorLog: number): ChildProcess {
  const env = { ...process.env }
  // what steers this process is not meant for the nodes of the demo
  for (const name of ['ANET_DATA_DIR', 'ANET_FAULT', 'NODE_OPTIONS']) delete env[name]
  return fork(entry, [], { execArgv: [], env, stdio: ['ignore', 'ignore', errorLog, 'ipc'] })
}

const stopTimeoutMs = 5_000

/** A process of the demo and the calls to it. */
export class Child {
  readonly #process: ChildProcess
  readonly #calls = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>()
  #nextId = 0
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>

  constructor(process: ChildProcess, name: string) {
    this.#process = process
    process.on('message', (message) => this.#receive(message))
    this.ended = Promise.race([once(process, 'exit'), once(process, 'error')]).then(() => {
      const gone = new AnetError('demo_process_ended', `The process "${name}" of the demo ended.`, {
        remedy: 'Its messages are in the folder logs of the demo.',
      })
      for (const { reject } of this.#calls.values()) reject(gone)
      this.#calls.clear()
    })
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** Error: what the process answered, or `demo_process_ended`. */
  call(method: string, input: unknown): Promise<unknown> {
    const id = this.#nextId++
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject })
      this.#process.send({ id, method, input }, (error) => {
        if (error !== null && this.#calls.delete(id)) reject(error)
      })
    })
  }

  /** Asks it to end, and ends it when it does not. */
  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    this.#process.send({ id: this.#nextId++, method: 'stop', input: {} }, () => undefined)
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), stopTimeoutMs)
    await this.ended
    clearTimeout(timer)
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
