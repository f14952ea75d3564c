import { agentParamsSchema, extensionUris, type AgentCard } from '@shared/a2a/index.ts'
import type { Config } from '@shared/config/index.ts'
import type { AgentDetailView, AgentView } from '@shared/contract/index.ts'
import type { Peer } from '../identity/index.ts'

export type Relation = AgentView['relation']
type HistoryView = AgentDetailView['history']

/** The verified name, or the placeholder that a card made from the AID has. */
export function agentName(aid: string, peer: Peer | undefined): string {
  return peer?.card?.card.name ?? `agent ${aid.slice(0, 12)}`
}

/** Deny wins over trust, trust over allow (spec/provider.md, Who may send what). */
export function relationOf(config: Config, aid: string): Relation {
  for (const relation of ['deny', 'trust', 'allow'] as const) {
    if (config.peers[relation].some((entry) => entry.aid === aid)) return relation
  }
  return 'none'
}

/** An agent in a list. Only what its verified card says is described; text of the agent is passed on as it is. */
export function agentView(input: {
  aid: string
  peer: Peer | undefined
  lastSeen: number | null
  relation: Relation
  agentsUrl: string | null
}): AgentView {
  const { aid, peer, lastSeen, relation, agentsUrl } = input
  const card = peer?.card?.card
  const params = card === undefined ? undefined : agentParamsOf(card)
  return {
    aid,
    name: agentName(aid, peer),
    description: card?.description ?? null,
    verification: card === undefined ? 'UNVERIFIED' : 'VERIFIED',
    keyState: peer?.keyState ?? 'stale',
    forked: peer?.forked ?? false,
    official: false,
    charge: params?.charge ?? null,
    homeHub: params?.homeHub ?? null,
    lastSeen,
    relation,
    skills: (card?.skills ?? []).map(({ id, name, description, tags }) => ({ id, name, description, tags })),
    url: agentsUrl === null ? null : `${agentsUrl}/${aid}`,
  }
}

/** The key history as a timeline. */
export function historyView(peer: Peer | undefined): HistoryView {
  return (peer?.history.statements ?? []).map((statement) => ({
    seq: statement.seq,
    type: statement.type,
    emergency: statement.emergency ?? false,
    at: statement.at,
  }))
}

function agentParamsOf(card: AgentCard): { charge: 'free' | 'partial' | 'paid'; homeHub: string } | undefined {
  const extension = card.capabilities.extensions?.find(({ uri }) => uri === extensionUris.agent)
  const params = agentParamsSchema.safeParse(extension?.params)
  return params.success ? params.data : undefined
}

/**
 * The command that sends a first task to an agent, as docs/first-task.md prints it: the token comes from its file
 * through a file descriptor, so that it appears in no argument list.
 */
export function curlFor(agentUrl: string, tokenFile: string): string {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'SendMessage',
    params: { message: { role: 'ROLE_USER', messageId: 'm-0001', parts: [{ text: 'Hello' }] } },
  })
  return [
    `curl -s -H @<(printf 'Authorization: Bearer %s\\n' "$(cat ${shellQuoted(tokenFile)})")`,
    `-H 'Content-Type: application/json' -H 'A2A-Version: 1.0'`,
    `${shellQuoted(`${agentUrl}/jsonrpc`)} -d ${shellQuoted(body)}`,
  ].join(' \\\n    ')
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
