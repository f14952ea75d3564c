import type { Aid, Body, MessageType, WireCrypto } from '@shared/wire/index.ts'
import type { Identity, Peers } from '../identity/index.ts'
import type { Clock, Log } from '../ports.ts'
import type { Store } from '../store/index.ts'
import { Acknowledger } from './acknowledger.ts'
import { Admission } from './admission.ts'
import { defaultTiming, type NetworkTiming } from './backoff.ts'
import { prepareBody, smallBody } from './body.ts'
import { openChannel } from './channels.ts'
import { Connection, type HubSetting } from './connection.ts'
import { Courier } from './courier.ts'
import { LocalDirectory } from './directory.ts'
import { Dispatcher } from './dispatcher.ts'
import { HeldMessages } from './held.ts'
import type { HubClient } from './hub-client.ts'
import { Inbox } from './inbox.ts'
import { Maintenance } from './maintenance.ts'
import { Outbox } from './outbox.ts'
import { Previews } from './previews.ts'
import { Publication } from './publication.ts'
import { rejections } from './rejections.ts'
import { createSealing } from './sealing.ts'
import { SeenMessages } from './seen.ts'
import { openSession } from './session.ts'
import type { Handler, Network, Prepare } from './types.ts'
import { Witness } from './witness.ts'

export interface NetworkOptions {
  readonly store: Store
  readonly identity: Identity
  readonly peers: Peers
  readonly crypto: WireCrypto
  readonly clock: Clock
  readonly log: Log
  /** The configured hub. */
  readonly hub: HubSetting
  /** The network card's A2A JSON; undefined if this node shows none. Asked again at each connect and refresh. */
  readonly cardJson: () => Uint8Array | undefined
  /** Called at each durable step with its name (src-main/node/fault.ts). */
  readonly fault?: (name: string) => void
  readonly timing?: Partial<NetworkTiming>
}

/** The network floor: connects, delivers and lists (spec/network.md). Needs `networkMigrations` in the store. */
export function createNetwork(options: NetworkOptions): Network {
  const { store, identity, peers, crypto, clock, log, hub, cardJson } = options
  const fault = options.fault ?? ((): void => {})
  const timing = { ...defaultTiming, ...options.timing }

  const directory = new LocalDirectory({ store, identity, peers, crypto, clock, log })
  const sealing = createSealing({ identity, crypto, clock })
  const lookup = (aid: Aid): Promise<unknown> => directory.lookup(aid)
  const courier = new Courier({ store, identity, peers, sealing, crypto, clock, lookup })
  const outbox = new Outbox({ store, crypto, clock, timing })
  const acknowledger = new Acknowledger({ store, courier, clock, timing })
  const witness = new Witness({ store, identity, crypto, log })
  const held = new HeldMessages(store)
  const seen = new SeenMessages(store)
  const previews = new Previews({ store, courier, clock })
  const publication = new Publication({ store, identity, crypto, clock, cardJson, fault })
  const admission = new Admission({
    store,
    identity,
    peers,
    outbox,
    held,
    seen,
    witness,
    clock,
    fault,
    wrote: (tx, peer) => directory.wrote(tx, peer),
  })
  const inbox = new Inbox({
    store,
    sealing,
    admission,
    held,
    acknowledger,
    clock,
    log,
    fault,
    again: () => connection.redeliver(),
  })
  const dispatcher = new Dispatcher({
    store,
    outbox,
    courier,
    clock,
    log,
    timing,
    fault,
    told: (channel, ack) => acknowledger.told(channel, ack),
    trouble: (error) => connection.trouble(error),
  })
  const maintenance = new Maintenance({
    store,
    identity,
    directory,
    publication,
    witness,
    seen,
    held,
    outbox,
    crypto,
    clock,
    log,
    timing,
  })
  const connection = new Connection({
    store,
    identity,
    crypto,
    clock,
    log,
    timing,
    hub,
    publication,
    fault,
    openSession: (client) => openSession({ client, inbox, timing, log, fault }),
    usable: (client, aid) => use(client, aid),
    unusable: async () => {
      courier.use(undefined)
      directory.use(undefined)
      maintenance.use(undefined)
      await dispatcher.pause()
    },
  })

  function use(client: HubClient, aid: Aid): void {
    courier.use(client)
    directory.use(client)
    dispatcher.resume()
    inbox.resume()
    acknowledger.resume()
    maintenance.use({ client, aid })
  }

  return {
    get joinState() {
      return connection.state
    },
    onJoinState: (listener) => connection.onState(listener),
    join: (input) => connection.join(input),
    leave: () => connection.leave(),
    on<T extends MessageType, P>(type: T, handler: Handler<T, P>, prepare?: Prepare<T, P>): void {
      // the registry holds handlers of all types; each is called with messages of its own type only
      admission.register(type, { handler, prepare } as unknown as Parameters<Admission['register']>[1])
    },
    enqueue: (tx, message) => {
      outbox.enqueue(tx, message)
      fault('outbox.enqueued')
    },
    prepareBody: <T extends MessageType>(type: T, body: Body<T>) => prepareBody(store, type, body),
    smallBody,
    sendPreview: (to, task, body) => previews.send(to, task, body),
    openChannel: (tx, task, peer) => void openChannel(tx, task, peer),
    onProgress: (listener) => outbox.onProgress(listener),
    unconfirmed: (task) => outbox.unconfirmed(task),
    directory,
    outboxState: () => outbox.state(),
    reconnect: () => connection.reconnect(),
    cardChanged: () => maintenance.publish(),
    rejections: (limit) => rejections(store.read, limit),
    alarms: () => witness.alarms(),
    start: () => {
      maintenance.start()
      connection.start()
    },
    stop: async () => {
      maintenance.stop()
      await connection.stop()
      await inbox.idle()
      await acknowledger.stop()
      await maintenance.idle()
    },
  }
}
