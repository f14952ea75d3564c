import { rm } from 'node:fs/promises'
import type { NodeClient, NodeView, ShellView } from '@shared/contract/index.ts'
import { AnetError, type ErrorView, errorView } from '@shared/errors.ts'
import { demoHubAid, type DemoNetwork, startDemoNetwork } from '../demo/index.ts'
import { createUtilityProcess } from './utility-process.ts'

export interface DemoControlOptions {
  /** The demo's own directory: hub, agents and their nodes. */
  readonly dir: string
  readonly node: () => NodeClient
  readonly onChange: () => void
  readonly onDeath: (name: string, again: boolean) => void
}

/** The demo network beside the operator's node: started on request, and again whenever the node belongs to it. */
export class DemoControl {
  readonly #options: DemoControlOptions
  #running: DemoNetwork | undefined
  #abort = new AbortController()
  #state: ShellView['demo']['state'] = 'absent'
  #error: ErrorView | null = null

  constructor(options: DemoControlOptions) {
    this.#options = options
  }

  get view(): ShellView['demo'] {
    return { state: this.#state, dataDir: this.#options.dir, error: this.#error }
  }

  /** Starts hub and agents, and joins the node to them. Errors are in the view too. */
  async start(aid: string): Promise<void> {
    if (this.#state === 'starting' || this.#state === 'running') return
    this.#enter('starting')
    this.#abort = new AbortController()
    const { dir, node, onDeath } = this.#options
    try {
      this.#running = await startDemoNetwork({
        dir,
        operator: aid,
        onDeath,
        signal: this.#abort.signal,
        createProcess: createUtilityProcess,
      })
      await node().hub.join({ url: this.#running.hub.url, aid: this.#running.hub.aid })
      this.#enter('running')
    } catch (error) {
      await this.stop()
      this.#enter('failed', errorView(error))
      throw error
    }
  }

  /** After a start of the application: a node that was in the demo finds it again. */
  async resume(node: NodeView): Promise<void> {
    const hub = node.join.hub
    if (hub !== null && (await demoHubAid(this.#options.dir)) === hub.aid) await this.start(node.aid)
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    const running = this.#running
    this.#running = undefined
    await running?.stop()
  }

  /** Ends the demo and deletes its directory; the node leaves the demo's hub. */
  async remove(): Promise<void> {
    if (this.#state === 'starting') {
      throw new AnetError('demo_starting', 'The demo network is starting.', {
        remedy: 'Wait until it runs, then remove it.',
      })
    }
    await this.#options.node().hub.leave({})
    await this.stop()
    await rm(this.#options.dir, { recursive: true, force: true })
    this.#enter('absent')
  }

  #enter(state: ShellView['demo']['state'], error: ErrorView | null = null): void {
    this.#state = state
    this.#error = error
    this.#options.onChange()
  }
}
