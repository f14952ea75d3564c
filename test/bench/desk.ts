import { fork } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Child } from '../../src-main/demo/child.ts'
import { type Layout, prepareLayout } from '../../src-main/demo/layout.ts'
import { createLoad, type Load } from './load.ts'
import { type BenchNetwork, startNetwork } from './network.ts'

export type BenchProcess = 'bare-server' | 'echo-agent' | 'load' | 'sdk-server' | 'sqlite-writer'

export interface DeskOptions {
  /** Of the repository; its `out` is what is measured. */
  readonly root: string
  /** Where every process leaves a CPU profile, if anywhere. */
  readonly profiles?: string
}

/**
 * What the rows share: processes, the load generator, and the network of hub and two nodes, started when a row first asks
 * for it. Data lies in the repository's `.cache`, on the disk and not in memory, so that a sync costs what it costs.
 */
export class Desk {
  readonly #options: DeskOptions
  readonly #children: Child[] = []
  readonly #memo = new Map<string, Promise<unknown>>()
  #layout: Layout | undefined

  constructor(options: DeskOptions) {
    this.#options = options
  }

  /** Computes something once for all rows. */
  once<T>(name: string, make: () => Promise<T>): Promise<T> {
    const known = this.#memo.get(name) as Promise<T> | undefined
    if (known !== undefined) return known
    const made = make()
    this.#memo.set(name, made)
    return made
  }

  layout(): Promise<Layout> {
    return this.once('layout', async () => {
      const cache = join(this.#options.root, '.cache')
      await mkdir(cache, { recursive: true })
      this.#layout = await prepareLayout(await mkdtemp(join(cache, 'bench-data-')))
      return this.#layout
    })
  }

  load(): Promise<Load> {
    return this.once('load', async () => createLoad(await this.bench('load')))
  }

  network(): Promise<BenchNetwork> {
    return this.once('network', () => startNetwork(this))
  }

  /** A process of the bench's own. */
  bench(name: BenchProcess): Promise<Child> {
    return this.#fork(name, new URL(`./${name}.mjs`, import.meta.url))
  }

  /** A process of the product as it was built. */
  product(name: string, entry: 'hub-process' | 'node-process'): Promise<Child> {
    return this.#fork(name, pathToFileURL(join(this.#options.root, 'out', 'demo', `${entry}.js`)))
  }

  async close(): Promise<void> {
    // nodes before their hub
    for (const child of this.#children.toReversed()) await child.stop()
    if (this.#layout !== undefined) await rm(this.#layout.dir, { recursive: true, force: true })
  }

  async #fork(name: string, entry: URL): Promise<Child> {
    const { profiles } = this.#options
    const log = openSync((await this.layout()).errorLog(name), 'a')
    const profile = ['--cpu-prof', `--cpu-prof-dir=${profiles}`, `--cpu-prof-name=${name}.cpuprofile`]
    const execArgv = ['--enable-source-maps', ...(profiles === undefined ? [] : profile)]
    const running = fork(entry, [], { execArgv, stdio: ['ignore', 'ignore', log, 'ipc'] })
    closeSync(log)
    const child = new Child(
      {
        get pid() {
          return running.pid
        },
        send: (message) => void running.send(message as object, () => undefined),
        onMessage: (listener) => void running.on('message', listener),
        onEnd: (listener) => void running.once('exit', listener),
        kill: () => void running.kill('SIGKILL'),
      },
      name,
    )
    this.#children.push(child)
    return child
  }
}
