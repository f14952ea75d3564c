import { localClient, nodeContract, type NodeDoor } from '@shared/contract/index.ts'
import { agentOperations } from './agent-operations.ts'
import { createNodeEvents } from './events.ts'
import { inboxOperations } from './inbox-operations.ts'
import { endpointOperations, hubOperations, nodeOperations } from './node-operations.ts'
import type { ApiParts } from './parts.ts'
import { taskOperations } from './task-operations.ts'

export type { ApiParts, EndpointPort } from './parts.ts'

/**
 * The one implementation of the node contract, over the doors of the floors. Control plane, Electron IPC and tests use
 * it alike. `close` ends its subscriptions below.
 */
export function createApi(parts: ApiParts): NodeDoor & { close(): void } {
  const events = createNodeEvents(parts)
  const client = localClient(nodeContract, {
    node: nodeOperations(parts),
    hub: hubOperations(parts),
    agents: agentOperations(parts, events.agentsChanged),
    tasks: taskOperations(parts),
    inbox: inboxOperations(parts),
    endpoint: endpointOperations(parts),
  })
  return { client, subscribe: (listener) => events.subscribe(listener), close: () => events.close() }
}
