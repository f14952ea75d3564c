import type { AgentView, NodeHandlers } from '@shared/contract/index.ts'
import { AnetError } from '@shared/errors.ts'
import { isCid } from '@shared/wire/index.ts'
import type { Peer } from '../identity/index.ts'
import { agentView, curlFor, historyView, relationOf } from './agent-views.ts'
import type { ApiParts } from './parts.ts'

type Needed = Pick<ApiParts, 'network' | 'peers' | 'tasks' | 'endpoint' | 'config' | 'store'>

/** `onChange` is told when this node itself changed what a list of agents shows. */
export function agentOperations(parts: Needed, onChange: () => void): NodeHandlers['agents'] {
  const { network, peers, tasks, endpoint, config, store } = parts
  const { directory } = network

  const view = (entry: { aid: string; peer: Peer | undefined; lastSeen: number | null }): AgentView =>
    agentView({
      ...entry,
      relation: relationOf(config.get(), entry.aid),
      agentsUrl: endpoint.status().agentsUrl,
    })

  return {
    async list({ refresh, skill, tag, q, cursor, limit }) {
      if (refresh) await directory.refresh()
      const page = directory.list({
        limit,
        ...(skill === undefined ? {} : { skill }),
        ...(tag === undefined ? {} : { tag }),
        ...(q === undefined ? {} : { q }),
        ...(cursor === undefined ? {} : { cursor }),
      })
      return { agents: page.agents.map(view), nextCursor: page.nextCursor }
    },

    async get({ aid }) {
      const entry = directory.get(aid) ?? (await directory.lookup(wholeAid(aid)))
      const agent = view(entry)
      const { tokenFile } = endpoint.status()
      return {
        ...agent,
        history: historyView(entry.peer),
        networkCard: entry.peer?.card?.card ?? null,
        proxyCard: endpoint.proxyCard(aid),
        curl: agent.url === null || tokenFile === null ? null : curlFor(agent.url, tokenFile),
        tasks: {
          total: tasks.list({ peer: aid, limit: 1 }).total,
          failed: tasks.list({ peer: aid, state: 'TASK_STATE_FAILED', limit: 1 }).total,
        },
      }
    },

    async setRelation({ aid: given, relation }) {
      const aid = wholeAid(given)
      const before = relationOf(config.get(), aid)
      if (before !== relation) {
        await config.update((current) => ({ ...current, peers: withRelation(current.peers, aid, relation) }))
        await store.write((tx) => store.evidence.append(tx, 'policy.changed', { peer: aid, before, after: relation }))
        onChange()
      }
      return view(directory.get(aid) ?? { aid, peer: peers.get(aid), lastSeen: null })
    },
  }
}

/** Whole AIDs only: a shortened or mistyped one names nobody. */
function wholeAid(aid: string): string {
  if (isCid(aid)) return aid
  throw new AnetError('unknown_agent', `${aid} is not an AID.`, {
    remedy: 'Copy the whole AID: "anet agents list --wide" prints it.',
  })
}

type Lists = ReturnType<ApiParts['config']['get']>['peers']

/** An AID is on one list at most; its label moves with it. */
function withRelation(lists: Lists, aid: string, relation: AgentView['relation']): Lists {
  const old = [...lists.deny, ...lists.trust, ...lists.allow].find((entry) => entry.aid === aid) ?? { aid }
  const without = (list: Lists['trust']): Lists['trust'] => list.filter((entry) => entry.aid !== aid)
  const moved = { trust: without(lists.trust), allow: without(lists.allow), deny: without(lists.deny) }
  return relation === 'none' ? moved : { ...moved, [relation]: [...moved[relation], old] }
}
