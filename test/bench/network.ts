import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { providerSettings } from '../../src-main/demo/agent-config.ts'
import { prepareNode, startNodeIn } from '../../src-main/demo/network.ts'
import type { Desk } from './desk.ts'
import type { LoadRequest } from './load.ts'

/** Hub, echo agent, its node and the operator's node: the demo with one agent, which answers without delay. */
export interface BenchNetwork {
  /** Ends the hub; both nodes go on without it. */
  stopHub(): Promise<void>
  /** Data directory of the operator's node. */
  readonly dataDir: string
  /** A JSON-RPC call to the echo agent: through the operator's node, or straight to the agent itself. */
  through(method: string, params: object, headers?: Record<string, string>): LoadRequest
  direct(method: string, params: object): LoadRequest
}

const hubSchema = z.object({ url: z.string(), aid: z.string() })
const agentSchema = z.object({ port: z.number() })

export async function startNetwork(desk: Desk): Promise<BenchNetwork> {
  const layout = await desk.layout()
  const hub = await desk.product('hub', 'hub-process')
  const hubView = hubSchema.parse(await hub.call('start', { dataDir: layout.hub, port: 0 }))
  const agent = await desk.bench('echo-agent')
  const { tokenFile } = layout
  const { port: agentPort } = agentSchema.parse(await agent.call('start', { socket: layout.socket('echo'), tokenFile }))
  const operator = await desk.product('operator', 'node-process')
  const operatorAid = await prepareNode(operator, layout.operator)
  const provider = await desk.product('provider', 'node-process')
  await prepareNode(provider, layout.node('echo'))
  const settings = providerSettings('echo', layout, { hub: hubView, operator: operatorAid })
  const { aid } = await startNodeIn(provider, layout.node('echo'), settings)
  const started = await startNodeIn(operator, layout.operator, { hub: hubView, name: 'Bench operator' })
  await operator.call('awaitVerified', { aids: [aid] })
  const token = (await readFile(started.tokenFile, 'utf8')).trim()
  const agentToken = (await readFile(tokenFile, 'utf8')).trim()
  const port = Number(started.address.split(':')[1])
  return {
    stopHub: () => hub.stop(),
    dataDir: layout.operator,
    through: (method, params, headers = {}) =>
      rpcRequest({ port, path: `/a2a/v1/agents/${aid}/jsonrpc`, token, headers }, method, params),
    direct: (method, params) =>
      rpcRequest({ port: agentPort, path: '/jsonrpc', token: agentToken, headers: {} }, method, params),
  }
}

export function rpcRequest(
  server: { port: number; path: string; token: string; headers: Record<string, string> },
  method: string,
  params: object,
): LoadRequest {
  const { port, path, token, headers } = server
  return {
    port,
    method: 'POST',
    path,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  }
}

/** Sends one request and returns the result of the call. */
export async function call({ port, method, path, headers, body }: LoadRequest): Promise<unknown> {
  const url = `http://127.0.0.1:${port}${path}`
  const response = await fetch(url, { method, headers, ...(method === 'GET' ? {} : { body }) })
  const answer = z.object({ result: z.unknown() }).parse(await response.json())
  return answer.result
}
