import { isAnetError } from '@shared/errors.ts'
import { type Aid, statementId, type WireCrypto } from '@shared/wire/index.ts'
import type { Identity } from '../identity/index.ts'
import type { Clock, Log } from '../ports.ts'
import type { Store } from '../store/index.ts'
import { jittered, type NetworkTiming } from './backoff.ts'
import type { LocalDirectory } from './directory.ts'
import type { HeldMessages } from './held.ts'
import type { HubClient } from './hub-client.ts'
import type { Outbox } from './outbox.ts'
import type { Publication } from './publication.ts'
import type { SeenMessages } from './seen.ts'
import type { Witness } from './witness.ts'

export interface MaintenanceParts {
  readonly store: Store
  readonly identity: Identity
  readonly directory: LocalDirectory
  readonly publication: Publication
  readonly witness: Witness
  readonly seen: SeenMessages
  readonly held: HeldMessages
  readonly outbox: Outbox
  readonly crypto: WireCrypto
  readonly clock: Clock
  readonly log: Log
  readonly timing: NetworkTiming
}

interface Hub {
  readonly client: HubClient
  readonly aid: Aid
}

/** What happens on a schedule: refreshing the directory, publishing changes, rotating keys, pruning. */
export class Maintenance {
  readonly #parts: MaintenanceParts
  readonly #running = new Set<Promise<void>>()
  #hub: Hub | undefined
  #refreshTimer: NodeJS.Timeout | undefined
  #pruneTimer: NodeJS.Timeout | undefined

  constructor(parts: MaintenanceParts) {
    this.#parts = parts
  }

  /** The hub is there: its directory is read at once and then every few minutes. Undefined: it is not. */
  use(hub: Hub | undefined): void {
    this.#hub = hub
    clearTimeout(this.#refreshTimer)
    this.#refreshTimer = undefined
    if (hub === undefined) return
    this.#background(() => this.#checkOwnHead(hub))
    this.#background(() => this.#refresh(hub))
  }

  start(): void {
    this.#prune()
  }

  stop(): void {
    clearTimeout(this.#pruneTimer)
    this.use(undefined)
  }

  async idle(): Promise<void> {
    await Promise.all(this.#running)
  }

  /** Publishes what changed, now if the hub is there, otherwise with the next connection. */
  publish(): void {
    const hub = this.#hub
    if (hub !== undefined) this.#background(() => this.#parts.publication.sync(hub.client, hub.aid))
  }

  async #refresh(hub: Hub): Promise<void> {
    const { directory, publication, timing } = this.#parts
    try {
      await publication.sync(hub.client, hub.aid)
      await directory.refresh()
    } finally {
      if (this.#hub === hub) {
        this.#refreshTimer = setTimeout(() => this.#background(() => this.#refresh(hub)), jittered(timing.refreshEvery))
        this.#refreshTimer.unref()
      }
    }
  }

  /** The hub must not hold a longer or another history of this node than the node itself. */
  async #checkOwnHead({ client, aid: hubAid }: Hub): Promise<void> {
    const { identity, store, witness, crypto, clock } = this.#parts
    const { history } = await client.lookup(identity.aid)
    const newest = history.at(-1)
    if (newest === undefined) return
    await store.write((tx) => witness.check(tx, hubAid, statementId(crypto, newest), clock.now()))
  }

  #prune(): void {
    this.#background(async () => {
      const { seen, held, outbox, directory, identity, clock, log } = this.#parts
      const now = clock.now()
      await seen.prune(now)
      await held.prune(now)
      await directory.prune(now)
      const dropped = await outbox.dropExpired(now)
      if (dropped > 0) log.warn({ messages: dropped }, 'messages expired without an acknowledgement')
      if (await identity.rotateEncryptionKeys(now)) this.publish()
    })
    this.#pruneTimer = setTimeout(() => this.#prune(), jittered(this.#parts.timing.maintainEvery))
    this.#pruneTimer.unref()
  }

  /** Trouble with the hub is the connection's to report; anything else is an error of this node. */
  #background(work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) => {
        if (isAnetError(error)) this.#parts.log.debug({ code: error.code }, 'maintenance has to be repeated')
        else this.#parts.log.error({ err: error }, 'maintenance failed')
      })
      .finally(() => this.#running.delete(running))
    this.#running.add(running)
  }
}
