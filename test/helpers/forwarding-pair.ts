import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Client } from '@a2a-js/sdk/client'
import { known, startTestHub, startTestNode, testFolder, type TestNode } from './nodes.ts'
import { ScriptedBackend, type Script } from './scripted-backend.ts'
import { type Binding, sdkClient } from './sdk-client.ts'

export interface ForwardingPair {
  /** The node whose endpoint clients use. */
  readonly operator: TestNode
  /** The node that forwards what the operator sends to the backend. */
  readonly provider: TestNode
  readonly backend: ScriptedBackend
  /** URL of the provider's agent on the operator's endpoint. */
  readonly url: string
  readonly token: string
  client(binding: Binding, fetchImpl?: typeof fetch): Promise<Client>
}

/** Two real nodes and a hub; behind the second, a backend that does what the test says and when it says so. */
export async function forwardingPair(script: Script): Promise<ForwardingPair> {
  const socket = join(await testFolder(), 'agent.sock')
  const backend = await new ScriptedBackend(script).listen(socket)
  onTestFinished(() => backend.close())
  const hub = await startTestHub()
  const operator = await startTestNode({ name: 'Operator', hub })
  const backends = [{ match: '*', url: `unix://${socket}` }]
  const provider = await startTestNode({
    name: 'Provider',
    hub,
    trust: [operator.aid],
    config: { modules: { a2a: { backends } } },
  })
  await known(operator, provider)
  const { agentsUrl, tokenFile } = await operator.client.endpoint.status({})
  const url = `${agentsUrl}/${provider.aid}`
  const token = (await readFile(tokenFile ?? '', 'utf8')).trim()
  return {
    operator,
    provider,
    backend,
    url,
    token,
    client: (binding, fetchImpl = fetch) => sdkClient({ url, token, binding, fetch: fetchImpl }),
  }
}
