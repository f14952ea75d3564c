import type { JoinStateView, NodeHandlers, NodeView } from '@shared/contract/index.ts'
import type { JoinState } from '../network/index.ts'
import type { ApiParts } from './parts.ts'

/** The node at a glance. Counts come from indexes, never from walking contents. */
export function nodeView(parts: ApiParts): NodeView {
  const { about, identity, network, tasks, endpoint } = parts
  return {
    ...about,
    aid: identity.aid,
    join: joinStateView(network.joinState),
    endpoint: endpoint.status(),
    counts: {
      agents: network.directory.count(),
      openTasks: tasks.list({ state: 'open', limit: 1 }).total,
      inbox: tasks.inbox.list({ state: 'open', limit: 1 }).open,
      approvals: 0,
      outbox: network.outboxState().waiting,
    },
  }
}

export function nodeOperations(parts: ApiParts): NodeHandlers['node'] {
  return {
    status: () => nodeView(parts),
    doctor: async () => ({ checks: [...(await parts.checks())] }),
    stop({ force }) {
      // Tasks and the outbox are durable and go on at the next start. Only what a backend works on right now is lost by
      // stopping: nobody can say afterwards whether it was done.
      const inFlight = parts.tasks.inbox
        .list({ state: 'open', limit: 200 })
        .items.filter((item) => item.state === 'forwarding')
        .map((item) => item.key.id)
      const stopping = force || inFlight.length === 0
      if (stopping) parts.requestStop()
      return { stopping, inFlight }
    },
  }
}

export function hubOperations({ network }: Pick<ApiParts, 'network'>): NodeHandlers['hub'] {
  return {
    async join({ url, aid, invite }) {
      const state = await network.join({
        url,
        ...(aid === undefined ? {} : { aid }),
        ...(invite === undefined ? {} : { invite }),
      })
      return joinStateView(state)
    },
    leave: async () => joinStateView(await network.leave()),
  }
}

export function endpointOperations({ endpoint }: Pick<ApiParts, 'endpoint'>): NodeHandlers['endpoint'] {
  return { status: () => endpoint.status(), retry: () => endpoint.retry() }
}

function joinStateView(state: JoinState): JoinStateView {
  return { ...state, hub: state.hub ?? null }
}
