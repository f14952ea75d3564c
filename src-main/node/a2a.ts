import type { CheckView, EndpointView } from '@shared/contract/index.ts'
import { AnetError } from '@shared/errors.ts'
import type { EndpointPort } from './api/index.ts'
import type { A2aModuleOptions } from './modules/a2a/index.ts'

/** False in a build made with ANET_NO_A2A=1: its bundle does not contain the module. */
declare const __ANET_A2A__: boolean | undefined
const isBuilt = typeof __ANET_A2A__ === 'undefined' || __ANET_A2A__

/** The module a2a as the composition uses it: endpoint and backends, or their absence with its reason. */
export interface A2a {
  readonly endpoint: EndpointPort
  checks(): Promise<readonly CheckView[]>
  close(): Promise<void>
}

/**
 * Starts the local A2A endpoint and the forwarding to backends, unless the build has no such module or the configuration
 * disables it. A port conflict is a state of the endpoint, not an error: the rest of the node runs. To be called before
 * the network hands over the first message.
 */
export async function startA2a(options: A2aModuleOptions): Promise<A2a> {
  if (!isBuilt) {
    return absent({
      state: 'not_built',
      sentence: 'This build of ANet has no local A2A endpoint.',
      remedy: 'Use the command line, or a build with the module a2a.',
    })
  }
  if (!options.config.modules.a2a.enabled) {
    return absent({
      state: 'disabled',
      sentence: 'The local A2A endpoint is disabled in config.json.',
      remedy: 'Set "modules.a2a.enabled" to true and restart the node.',
    })
  }
  const [{ startA2aModule }, { startBackends }] = await Promise.all([
    import('./modules/a2a/index.ts'),
    import('./modules/a2a/backends/index.ts'),
  ])
  const backends = await startBackends(options)
  try {
    const endpoint = await startA2aModule(options)
    return {
      endpoint,
      checks: async () => [...endpoint.checks(), ...(await backends.checks())],
      async close() {
        await endpoint.close()
        await backends.close()
      },
    }
  } catch (error) {
    await backends.close()
    throw error
  }
}

function absent(why: { state: 'not_built' | 'disabled'; sentence: string; remedy: string }): A2a {
  const { state, sentence, remedy } = why
  const view: EndpointView = { state, sentence, address: null, agentsUrl: null, tokenFile: null, conflict: null }
  return {
    endpoint: {
      status: () => view,
      onStatus: () => () => {},
      retry: async () => {
        throw new AnetError('endpoint_absent', sentence, { remedy })
      },
      proxyCard: () => null,
    },
    checks: async () => [{ name: 'endpoint', outcome: 'warn', seen: sentence, remedy }],
    close: async () => {},
  }
}
