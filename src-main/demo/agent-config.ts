import type { Config } from '@shared/config/index.ts'
import { z } from 'zod'
import type { ConfigInput } from '../node/config/index.ts'
import type { AgentId, Layout } from './layout.ts'

/** What the demo settles in the configuration of a node. Everything else stays as the operator left it. */
export const demoSettingsSchema = z.object({
  hub: z.object({ url: z.string(), aid: z.string() }),
  name: z.string(),
  /** Of a provider. */
  provider: z
    .object({
      description: z.string(),
      skill: z.object({ id: z.string(), name: z.string() }),
      operator: z.string(),
      socket: z.string(),
      tokenFile: z.string(),
    })
    .exactOptional(),
})
export type DemoSettings = z.infer<typeof demoSettingsSchema>

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

export function providerSettings(
  agent: AgentId,
  layout: Layout,
  { hub, operator }: { hub: DemoSettings['hub']; operator: string },
): DemoSettings {
  const { name, description, skill } = agents[agent]
  const { tokenFile } = layout
  return { hub, name, provider: { description, skill, operator, socket: layout.socket(agent), tokenFile } }
}

/** A provider of the demo is closed to everybody but the operator, and hands text to its agent. */
export function applySettings(config: Config, { hub, name, provider }: DemoSettings): ConfigInput {
  if (provider === undefined) return { ...config, hub, agent: { ...config.agent, name } }
  const { description, skill, operator, socket, tokenFile } = provider
  const trust = config.peers.trust.filter(({ aid }) => aid !== operator)
  return {
    ...config,
    hub,
    agent: { name, description },
    peers: { ...config.peers, trust: [...trust, { aid: operator, label: 'operator of the demo' }] },
    skills: [{ ...skill, description, tags: ['demo'] }],
    modules: {
      ...config.modules,
      a2a: {
        ...config.modules.a2a,
        backends: [{ match: '*', url: `unix://${encodeURI(socket)}`, token_file: tokenFile }],
      },
    },
  }
}
