import { type Config, configSchema } from '@shared/config/index.ts'
import type { AgentId, Layout } from './layout.ts'

const agents: Readonly<Record<AgentId, { name: string; description: string; skill: { id: string; name: string } }>> = {
  echo: {
    name: 'Echo',
    description: 'Repeats your text, streamed in pieces, and returns it as a file as well.',
    skill: { id: 'echo', name: 'Echo' },
  },
  asker: {
    name: 'Asker',
    description: 'Asks for whom a text is, and then addresses it to them.',
    skill: { id: 'ask', name: 'Ask back' },
  },
  summariser: {
    name: 'Summariser',
    description: 'Returns the sentences of a text that say most, in their order.',
    skill: { id: 'summarise', name: 'Summarise' },
  },
}

interface Network {
  readonly hub: { readonly url: string; readonly aid: string }
  readonly operator: string
}

/** A provider of the demo is closed to everybody but the operator, and hands text to its agent. */
export function providerConfig(agent: AgentId, layout: Layout, { hub, operator }: Network): Config {
  const { name, description, skill } = agents[agent]
  return configSchema.parse({
    agent: { name, description },
    hub,
    inbound: { policy: 'closed' },
    peers: { trust: [{ aid: operator, label: 'operator of the demo' }] },
    skills: [{ ...skill, description, tags: ['demo'] }],
    modules: {
      a2a: {
        backends: [{ match: '*', url: `unix://${encodeURI(layout.socket(agent))}`, token_file: layout.tokenFile }],
      },
    },
  })
}

export function operatorConfig({ hub }: Pick<Network, 'hub'>): Config {
  return configSchema.parse({ agent: { name: 'Demo operator' }, hub, inbound: { policy: 'closed' } })
}
