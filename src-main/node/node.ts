import type { NodeDoor } from '@shared/contract/index.ts'
import { startA2a } from './a2a.ts'
import { createApi } from './api/index.ts'
import { openConfig } from './live-config.ts'
import { startControl } from './control/index.ts'
import { crypto } from './crypto.ts'
import { lockDataDir, privateDirectory } from './data-dir/index.ts'
import { nodeChecks } from './doctor/index.ts'
import { faultFromEnvironment } from './fault.ts'
import { createPeers, identityMigrations, openIdentity } from './identity/index.ts'
import { createLog } from './log.ts'
import { networkCardJson } from './network-card.ts'
import { createNetwork, networkMigrations, type NetworkTiming } from './network/index.ts'
import { type Clock, type Log, systemClock } from './ports.ts'
import { type KeychainOptions, openSecrets, type PassphraseSource } from './secrets/index.ts'
import { openStore } from './store/index.ts'
import { createInboundPolicy, createTasks, type FaultPoint, tasksMigrations } from './tasks/index.ts'
import { createUnwinding } from './unwinding.ts'
import { version } from './version.ts'

export interface NodeOptions {
  readonly dataDir: string
  readonly kind: 'desktop' | 'headless'
  /** Asked only if the secret store is a passphrase. */
  readonly passphrase?: PassphraseSource
  readonly keychain?: KeychainOptions
  readonly clock?: Clock
  readonly fault?: FaultPoint
  readonly log?: Log
  /** Without `log`: readable lines on stderr too, as a run in the foreground shows them. */
  readonly logToStderr?: boolean
  readonly timing?: Partial<NetworkTiming>
}

export interface RunningNode {
  readonly aid: string
  readonly door: NodeDoor
  readonly control: { readonly address: string; readonly tokenFile: string }
  /** Closes everything in the reverse order of its start, within 5 seconds. Repeating it waits for the same end. */
  stop(): Promise<void>
  /** Resolves when the node has stopped, whoever asked for it. */
  readonly stopped: Promise<void>
}

/**
 * Starts a node on a data directory that was set up: composes the floors from the lowest to the doors. Whatever fails
 * undoes what was started before it. Errors: `node_running`, `not_initialised`, `config_invalid`, and those of
 * the secret store and of the database. A hub that cannot be reached and a port conflict are states, not errors.
 */
export async function startNode(options: NodeOptions): Promise<RunningNode> {
  const { dataDir, kind, clock = systemClock, fault = faultFromEnvironment() } = options
  const unwinding = createUnwinding()
  try {
    await privateDirectory(dataDir)
    const lock = await lockDataDir(dataDir, kind)
    unwinding.add('lock', () => lock.release())
    const config = await openConfig(dataDir)
    const log = options.log ?? createLog({ dataDir, level: config.get().log.level })
    unwinding.log = log

    const { passphrase, keychain } = options
    const secrets = await openSecrets({
      dataDir,
      log,
      ...(passphrase === undefined ? {} : { passphrase }),
      ...(keychain === undefined ? {} : { keychain }),
    })
    const migrations = [...identityMigrations, ...networkMigrations, ...tasksMigrations]
    const store = await openStore({ dataDir, wrappingKey: secrets.wrappingKey, migrations, log, clock })
    unwinding.add('store', () => store.close())
    const identity = await openIdentity({ secrets, store, crypto, clock, log })
    const peers = createPeers({ store, crypto, clock, log })

    const hub = {
      get: () => config.get().hub,
      save: async ({ url, aid }: { url: string; aid: string }) => {
        await config.update((current) => ({ ...current, hub: { url, aid } }))
        network.cardChanged()
      },
      forget: async () => void (await config.update(({ hub: _hub, ...rest }) => rest)),
    }
    const cardJson = (): Uint8Array | undefined => networkCardJson(config.get(), identity.aid)
    const timing = options.timing === undefined ? {} : { timing: options.timing }
    const network = createNetwork({ store, identity, peers, crypto, clock, log, hub, cardJson, fault, ...timing })
    const policy = createInboundPolicy(config.get)
    const tasks = createTasks({ store, identity, network, policy, clock, log, fault })
    unwinding.add('tasks', () => tasks.stop())
    const a2a = await startA2a({
      dataDir,
      config: config.get(),
      identity,
      peers,
      network,
      tasks,
      store,
      clock,
      log,
      fault,
    })
    unwinding.add('a2a', () => a2a.close())

    const { endpoint } = a2a
    const about = { version, kind, pid: process.pid, startedAt: clock.now(), dataDir, secretStore: secrets.kind }
    const checks = (): ReturnType<typeof nodeChecks> =>
      nodeChecks({ dataDir, store, network, clock, modules: () => a2a.checks() })
    const requestStop = (): void => void unwinding.run()
    const door = createApi({
      about,
      config,
      identity,
      peers,
      store,
      network,
      tasks,
      endpoint,
      checks,
      requestStop,
      clock,
      log,
    })
    unwinding.add('api', () => door.close())
    await tasks.start()
    unwinding.add('network', () => network.stop())
    network.start()
    const control = await startControl({ dataDir, door, log })
    unwinding.add('control', () => control.close())

    log.info({ aid: identity.aid, kind, version }, 'the node runs')
    return {
      aid: identity.aid,
      door,
      control: { address: control.address, tokenFile: control.tokenFile },
      stop: () => unwinding.run(),
      stopped: unwinding.done,
    }
  } catch (error) {
    await unwinding.run()
    throw error
  }
}
