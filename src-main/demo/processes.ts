import type { Child } from './child.ts'
import type { Layout } from './layout.ts'
import type { CreateProcess } from './process.ts'
import { Supervised } from './supervisor.ts'

export interface ProcessesOptions {
  readonly layout: Layout
  readonly createProcess: CreateProcess
  /** A process of the demo died; `again`: it is being started once more. */
  readonly onDeath: (name: string, again: boolean) => void
}

export type Entry = 'hub-process' | 'agents-process' | 'node-process'

/** All processes of one demo, started together and ended together. */
export class Processes {
  readonly #options: ProcessesOptions
  readonly #nodes: Supervised<unknown>[] = []
  readonly #servers: Supervised<unknown>[] = []

  constructor(options: ProcessesOptions) {
    this.#options = options
  }

  start<T>(name: string, entry: Entry, bringUp: (child: Child) => Promise<T>): Supervised<T> {
    const { layout, createProcess, onDeath } = this.#options
    const process = new Supervised({
      name,
      // every output of the build lies one folder deep
      create: () => createProcess(new URL(`../demo/${entry}.js`, import.meta.url), layout.errorLog(name)),
      bringUp,
      onDeath,
    })
    const group = entry === 'node-process' ? this.#nodes : this.#servers
    group.push(process)
    return process
  }

  /** Nodes first: they end their business with the hub and the agents. */
  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map((process) => process.stop()))
    await Promise.all(this.#servers.map((process) => process.stop()))
    await this.#options.layout.removeSockets()
  }
}

/** Runs `bringUp`, and ends all processes should it fail or the signal be aborted. */
export async function upOrNothing<T>(processes: Processes, signal: AbortSignal, bringUp: () => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  const onAbort = () => void processes.stop()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await bringUp()
  } catch (error) {
    await processes.stop()
    signal.throwIfAborted()
    throw error
  }
}
