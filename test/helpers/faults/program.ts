import type { ChildProcess } from 'node:child_process'
import { EventEmitter, once } from 'node:events'

export interface ProgramOptions {
  readonly name: string
  /** Starts the process; with `fault` it kills itself at that point. */
  readonly spawn: (fault: string | undefined) => ChildProcess
  /** Resolves when it works. */
  readonly ready: (child: ChildProcess) => Promise<void>
}

/** Deaths in a row, without having worked in between, after which a program is given up. */
const maxFailures = 3

/** A process that is started again whenever it dies, as a supervisor does. */
export class Program {
  readonly name: string
  readonly #options: ProgramOptions
  readonly #news = new EventEmitter()
  #child: ChildProcess | undefined
  #up: Promise<void> = Promise.resolve()
  #ended: Promise<unknown> = Promise.resolve()
  #output = ''
  #failures = 0
  #expected = false
  #nextFault: string | undefined
  deaths = 0

  constructor(options: ProgramOptions) {
    this.#options = options
    this.name = options.name
    this.#news.setMaxListeners(0)
  }

  /** The process that runs now. */
  get child(): ChildProcess {
    if (this.#child === undefined) throw new Error(`${this.name} was not started`)
    return this.#child
  }

  /** What it wrote to stderr, over all its lives. */
  get output(): string {
    return this.#output
  }

  start(fault?: string): Promise<void> {
    this.#expected = false
    this.#begin(fault)
    return this.up()
  }

  /** Resolves when the process that runs works, or the next one should it die before. */
  async up(): Promise<void> {
    for (;;) {
      const up = this.#up
      await up.catch((error: unknown) => {
        if (this.#failures >= maxFailures) throw error
      })
      if (up === this.#up && (this.#child?.exitCode ?? null) === null && (this.#child?.signalCode ?? null) === null) {
        return
      }
      if (up === this.#up) await once(this.#news, 'begun', { signal: AbortSignal.timeout(20_000) })
    }
  }

  /** kill -9. Resolves when the process is gone; the next one is on its way then, with this fault. */
  async kill(nextFault?: string): Promise<void> {
    const ended = this.#ended
    this.#nextFault = nextFault
    this.child.kill('SIGKILL')
    await ended
  }

  /** kill -9, and nobody starts it again. */
  async killForGood(): Promise<void> {
    this.#expected = true
    this.child.kill('SIGKILL')
    await this.#ended
  }

  /** Ends it in good order. */
  async stop(): Promise<void> {
    this.#expected = true
    const child = this.#child
    if (child === undefined) return
    if (child.connected) child.disconnect()
    child.kill('SIGTERM')
    const late = setTimeout(() => child.kill('SIGKILL'), 10_000)
    await this.#ended
    clearTimeout(late)
  }

  async restart(fault?: string): Promise<void> {
    await this.stop()
    await this.start(fault)
  }

  #begin(fault?: string): void {
    const child = this.#options.spawn(fault)
    this.#child = child
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.#output += text))
    this.#ended = once(child, 'exit')
    const gone = this.#ended.then(() => {
      throw new Error(`${this.name} ended while it started: ${this.#output.slice(-2000)}`)
    })
    gone.catch(() => undefined)
    this.#up = Promise.race([this.#options.ready(child), gone])
    this.#up.then(
      () => (this.#failures = 0),
      () => (this.#failures += 1),
    )
    this.#ended.then(
      () => {
        if (this.#expected) return
        this.deaths += 1
        const fault = this.#nextFault
        this.#nextFault = undefined
        if (this.#failures < maxFailures) this.#begin(fault)
      },
      () => undefined,
    )
    this.#news.emit('begun')
  }
}
