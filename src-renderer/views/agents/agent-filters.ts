import type { AgentView } from '@shared/contract/index.ts'

export const agentFilters = ['all', 'free', 'trusted', 'attention'] as const
export type AgentFilter = (typeof agentFilters)[number]

/** `attention`: something about the agent's identity could not be verified. */
export function matches(filter: AgentFilter, agent: AgentView): boolean {
  switch (filter) {
    case 'all':
      return true
    case 'free':
      return agent.charge === 'free'
    case 'trusted':
      return agent.relation === 'trust'
    case 'attention':
      return agent.forked || agent.verification === 'UNVERIFIED'
  }
}
