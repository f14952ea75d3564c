import type { NodeDoor, NodeEvent, NodeView, ShellView } from '@shared/contract/index.ts'
import { AnetError, type ErrorView, errorView, isAnetError } from '@shared/errors.ts'

/** A node to look at: one that runs in this process, or a headless one seen through its control plane. */
export interface AttachedNode {
  readonly door: NodeDoor
  readonly attached: boolean
  /** Ends the node; a node of another process is only let go. */
  readonly close: () => Promise<void>
  /** Settles when the node ended by itself or by `anet stop`. */
  readonly ended: Promise<void>
}

export interface SessionOptions {
  /** Whether the data directory has an identity. */
  readonly isInitialised: () => Promise<boolean>
  /** Starts the node, or attaches to the one that runs. Errors: `passphrase_needed`, and the node's own. */
  readonly open: (passphrase?: string) => Promise<AttachedNode>
  readonly onPhase: () => void
  readonly onNodeEvent: (event: NodeEvent) => void
  readonly onUnexpected: (error: unknown) => void
}

/**
 * The life of the node under the window: set-up, unlocking, running, failed. Holds the newest node slice, so that the
 * tray and a reloaded page have it at once.
 */
export class Session {
  readonly #options: SessionOptions
  #phase: ShellView['phase'] = 'starting'
  #error: ErrorView | undefined
  #node: AttachedNode | undefined
  #unsubscribe: (() => void) | undefined
  #view: NodeView | undefined
  #newest = new Map<NodeEvent['type'], NodeEvent>()

  constructor(options: SessionOptions) {
    this.#options = options
  }

  get phase(): ShellView['phase'] {
    return this.#phase
  }

  get error(): ErrorView | undefined {
    return this.#error
  }

  get attached(): boolean {
    return this.#node?.attached ?? false
  }

  get view(): NodeView | undefined {
    return this.#view
  }

  /** The node's door. Errors: `node_not_running`. */
  get door(): NodeDoor {
    if (this.#node !== undefined) return this.#node.door
    throw new AnetError('node_not_running', this.#error?.message ?? 'The node is not running.', {
      remedy: this.#error?.remedy ?? 'Finish the set-up, or start the node again.',
    })
  }

  /** The newest small slices: what a page needs that has just subscribed. */
  snapshot(): readonly NodeEvent[] {
    return [...this.#newest.values()]
  }

  /** Starts the node if there is an identity; otherwise the window shows the set-up. */
  async start(passphrase?: string): Promise<void> {
    if (this.#node !== undefined) return
    this.#enter('starting')
    try {
      if (!(await this.#options.isInitialised())) return this.#enter('setup')
      this.#adopt(await this.#options.open(passphrase))
    } catch (error) {
      if (isAnetError(error, 'passphrase_needed', 'passphrase_wrong')) return this.#enter('unlock', error)
      if (!(error instanceof AnetError)) this.#options.onUnexpected(error)
      this.#enter('failed', error)
    }
  }

  /** Ends the node of this process and lets a foreign one go. */
  async stop(): Promise<void> {
    const node = this.#node
    this.#release()
    await node?.close()
    this.#enter('stopped')
  }

  #adopt(node: AttachedNode): void {
    this.#node = node
    this.#unsubscribe = node.door.subscribe((event) => {
      if (event.type === 'node') this.#view = event.value
      if (event.type !== 'preview' && event.type !== 'task') this.#newest.set(event.type, event)
      this.#options.onNodeEvent(event)
    })
    this.#enter('running')
    void node.ended.then(() => {
      if (this.#node !== node) return
      this.#release()
      this.#enter('stopped')
    })
  }

  #release(): void {
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
    this.#node = undefined
    this.#view = undefined
    this.#newest = new Map()
  }

  #enter(phase: ShellView['phase'], error?: unknown): void {
    this.#phase = phase
    this.#error = error === undefined || isAnetError(error, 'passphrase_needed') ? undefined : errorView(error)
    this.#options.onPhase()
  }
}
