import type { CheckView } from '@shared/contract/index.ts'
import { type Config, parseDuration } from '@shared/config/index.ts'
import { AnetError } from '@shared/errors.ts'
import type { Clock, Log } from '../../../ports.ts'
import type { FaultPoint, Tasks } from '../../../tasks/index.ts'
import type { Backend } from './backend.ts'
import { BackendError } from './backend-error.ts'
import { defaultTiming, type Timing } from './timing.ts'
import type { ConnectorSurroundings } from './types.ts'

export interface Backends {
  /** Connects to each backend, reads its card and says what was checked: for `anet doctor`. */
  checks(): Promise<CheckView[]>
  close(): Promise<void>
}

export interface BackendsOptions {
  readonly config: Config
  readonly tasks: Tasks
  readonly clock: Clock
  readonly log: Log
  readonly fault?: FaultPoint
  readonly timing?: Partial<Timing>
  readonly surroundings?: ConnectorSurroundings
}

const checkTimeoutMs = 5_000

/**
 * Starts to forward to the backends of `modules.a2a.backends`. To be called before the network hands messages over.
 * Each backend is tried once at the start; what is wrong is logged and shown by `anet doctor`, and stops nothing.
 */
export async function startBackends(options: BackendsOptions): Promise<Backends> {
  const { config, tasks, clock, log } = options
  const { backends: configured, retry } = config.modules.a2a
  if (configured.length === 0) return { checks: async () => [], close: async () => undefined }
  // the client of A2A servers is large: a node without backends does not load it
  const [{ createBackend }, { systemSurroundings }, { Forwarder }] = await Promise.all([
    import('./backend.ts'),
    import('./connector.ts'),
    import('./forwarder.ts'),
  ])
  const surroundings = options.surroundings ?? systemSurroundings()
  const backends = configured.map((backend) => createBackend(backend, surroundings))
  const timing = {
    ...defaultTiming,
    maxRetryMs: parseDuration(retry.max_interval),
    giveUpAfterMs: parseDuration(retry.give_up_after),
    ...options.timing,
  }
  const fault = options.fault ?? (() => undefined)
  const forwarder = new Forwarder({ tasks, backends, skills: config.skills, timing, clock, log, fault })
  forwarder.start()
  const closing = new AbortController()
  const checks = () => Promise.all(backends.map((backend) => check(backend, closing.signal)))
  const firstCheck = checks().then((views) => {
    for (const view of views.filter(({ outcome }) => outcome !== 'ok')) {
      if (!closing.signal.aborted) log.warn({ check: view.name, seen: view.seen }, 'backend check')
    }
  })
  return {
    checks,
    async close() {
      closing.abort()
      await Promise.all([forwarder.close(), firstCheck])
    },
  }
}

async function check(backend: Backend, closing: AbortSignal): Promise<CheckView> {
  const { config, connector, client } = backend
  const name = `backend ${config.match}`
  const signal = AbortSignal.any([closing, AbortSignal.timeout(checkTimeoutMs)])
  try {
    const sentence = await connector.check(signal)
    client.forgetCard()
    const card = await client.card(signal)
    const seen = `${sentence}; it serves the card of ${JSON.stringify(card.name.slice(0, 64))}`
    if (config.peer_check !== 'path-only') return { name, outcome: 'ok', seen, remedy: null }
    return { name, outcome: 'warn', seen, remedy: 'Remove "peer_check": "path-only" where the platform can check.' }
  } catch (error) {
    const cause = error instanceof BackendError && error.cause instanceof Error ? rootOf(error) : error
    if (cause instanceof AnetError) return { name, outcome: 'fail', seen: cause.message, remedy: cause.remedy ?? null }
    const seen = error instanceof BackendError ? error.message : `${config.url} does not answer within 5 s.`
    return { name, outcome: 'fail', seen, remedy: 'Start the agent, or correct this backend in config.json.' }
  }
}

function rootOf(error: Error): Error {
  let root = error
  while (root.cause instanceof Error && !(root instanceof AnetError)) root = root.cause
  return root
}
