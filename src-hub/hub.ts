import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { storageError } from '@shared/sql/index.ts'
import type { Aid } from '@shared/wire/index.ts'
import { createAdmin } from './admin/index.ts'
import { createInProcessBus } from './bus/index.ts'
import { createHubApp, type RateLimits } from './http/app.ts'
import { acceptMailboxes, closeServer, createHubServer, listen } from './http/server.ts'
import { createSendRoute, isSend } from './http/send-route.ts'
import { openHubIdentity } from './identity.ts'
import { createInvite } from './invites.ts'
import type { OpenPolls } from './mailbox/poll.ts'
import { RecentNonces } from './mailbox/recent-nonces.ts'
import { SenderShares } from './mailbox/sender-shares.ts'
import { MailboxSessions } from './mailbox/sessions.ts'
import { createMembership } from './membership/index.ts'
import { HubMetrics } from './metrics.ts'
import { defaultHubLimits, type HubOptions, silentLog } from './options.ts'
import type { HubParts } from './parts.ts'
import { privateDirectory, removePrivate, writePrivate } from './private-files.ts'
import { RateLimit } from './rate-limit.ts'
import { lockDirectory, openSqliteStore } from './store/index.ts'
import { Sweeper } from './sweeper.ts'

/** Requests under way have this long to end when the hub stops. */
const stopGraceMs = 5000

const files = {
  lock: 'hub.lock',
  address: 'hub_addr.txt',
  adminAddress: 'hub_admin_addr.txt',
  adminToken: 'hub_admin_token.txt',
}

export interface RunningHub {
  /** What members join: `http://127.0.0.1:7800`. */
  readonly url: string
  readonly aid: Aid
  readonly adminUrl: string
  readonly adminToken: string
  /** A single-use invite, good for `validFor` milliseconds (7 days if not given). */
  createInvite(options?: { validFor?: number }): Promise<string>
  /** Ends sessions, lets requests under way end, and closes the store with everything committed. */
  stop(): Promise<void>
}

/**
 * Starts a hub on `dataDir` (made with 0700 if it is not there). Errors: `hub_already_running`, `hub_key_missing`,
 * `hub_key_damaged`, `hub_directory_unsafe`, `hub_file_unsafe`, `hub_port_in_use`, `hub_port_forbidden`, and those of
 * storageError: `database_damaged`, `disk_full` and the like.
 */
export async function startHub(options: HubOptions): Promise<RunningHub> {
  const { dataDir } = options
  const fault = options.fault ?? (() => {})
  const clock = options.clock ?? { now: () => Date.now() }
  const cleanups: (() => Promise<void> | void)[] = []
  const cleanUp = async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup()
  }
  try {
    await privateDirectory(dataDir)
    const lock = await lockDirectory(join(dataDir, files.lock))
    cleanups.push(() => lock.close())
    const used = await exists(join(dataDir, 'hub.db'))
    const identity = await openHubIdentity(dataDir, { clock, used, fault })
    const store = await openSqliteStore({ dataDir, fault })
    cleanups.push(() => store.close())
    const { parts, rates } = assemble(options, { identity, store, clock, fault })

    const polls: OpenPolls = new Set()
    const sessions = new MailboxSessions(parts)
    const app = createHubApp(parts, rates, polls)
    const sendRoute = createSendRoute(parts, rates)
    const server = createHubServer((request, response) => {
      if (isSend(request)) sendRoute(request, response)
      else app(request, response)
    })
    acceptMailboxes(server, parts, rates, sessions)
    const sweeper = new Sweeper(parts, rates)
    cleanups.push(() => sweeper.stop())
    const host = options.host ?? '127.0.0.1'
    const port = await listen(server, host, options.port)
    cleanups.push(async () => {
      const closed = closeServer(server, stopGraceMs, () => sessions.terminate())
      sessions.stop()
      for (const end of polls) end()
      await closed
    })

    const admin = createAdmin(parts, sessions, polls)
    const adminPort = await listen(admin.server, '127.0.0.1', options.adminPort ?? 0)
    cleanups.push(() => closeServer(admin.server, 0))
    const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
    const adminUrl = `http://127.0.0.1:${adminPort}`
    await writePrivate(join(dataDir, files.adminToken), admin.token)
    await writePrivate(join(dataDir, files.adminAddress), adminUrl)
    await writePrivate(join(dataDir, files.address), url)
    cleanups.push(() => removePrivate(dataDir, files.address, files.adminAddress, files.adminToken))
    parts.log.info({ url, aid: identity.aid, policy: options.policy }, 'The hub runs')

    let stopping: Promise<void> | undefined
    return {
      url,
      aid: identity.aid,
      adminUrl,
      adminToken: admin.token,
      createInvite: async ({ validFor } = {}) => (await createInvite(parts, validFor)).token,
      stop: () => (stopping ??= cleanUp()),
    }
  } catch (error) {
    await cleanUp()
    throw storageError(error)
  }
}

function assemble(
  options: HubOptions,
  given: Pick<HubParts, 'identity' | 'store' | 'clock' | 'fault'>,
): { parts: HubParts; rates: RateLimits } {
  const limits = { ...defaultHubLimits, ...options.limits }
  const log = options.log ?? silentLog
  const { store, clock, fault } = given
  const parts: HubParts = {
    ...given,
    name: options.name ?? 'ANet hub',
    policy: options.policy,
    limits,
    log,
    bus: createInProcessBus(log),
    membership: createMembership({ store, policy: options.policy, limits, log, fault }),
    shares: new SenderShares(limits),
    recentNonces: new RecentNonces(clock),
    metrics: new HubMetrics(),
  }
  const rates: RateLimits = {
    sends: new RateLimit(limits.ratePerSecond, limits.rateBurst, clock),
    requests: new RateLimit(limits.requestsPerSecond, limits.requestBurst, clock),
    addresses: new RateLimit(limits.addressPerSecond, limits.addressBurst, clock),
  }
  return { parts, rates }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
