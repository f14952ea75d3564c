import { Child } from './child.ts'
import type { DemoProcess } from './process.ts'

export interface SuperviseOptions<T> {
  readonly name: string
  readonly create: () => DemoProcess
  /** Brings a new process to work: at the start, and again after it died. */
  readonly bringUp: (child: Child) => Promise<T>
  /** It died; `again`: it is being started once more. */
  readonly onDeath: (name: string, again: boolean) => void
}

const maxDeaths = 5
const withinMs = 60_000

/** A process that, should it die, is started again on the same data; given up after five deaths in a minute. */
export class Supervised<T> {
  readonly #options: SuperviseOptions<T>
  readonly #deaths: number[] = []
  #child: Child
  #stopping = false
  /** What the first `bringUp` brought; rejects if it failed or the process ended before. */
  readonly up: Promise<T>

  constructor(options: SuperviseOptions<T>) {
    this.#options = options
    this.#child = this.#begin()
    this.up = options.bringUp(this.#child)
    this.up.then(
      () => this.#watch(this.#child),
      () => undefined,
    )
  }

  /** The process that runs now. */
  get child(): Child {
    return this.#child
  }

  async stop(): Promise<void> {
    this.#stopping = true
    await this.#child.stop()
  }

  #begin(): Child {
    return new Child(this.#options.create(), this.#options.name)
  }

  #watch(child: Child): void {
    void child.ended.then(() => {
      if (!this.#stopping) this.#again()
    })
  }

  #again(): void {
    const now = Date.now()
    this.#deaths.push(now)
    const again = this.#deaths.filter((at) => at > now - withinMs).length < maxDeaths
    this.#options.onDeath(this.#options.name, again)
    if (!again) return
    const child = this.#begin()
    this.#child = child
    this.#watch(child)
    this.#options.bringUp(child).catch(() => child.stop())
  }
}
