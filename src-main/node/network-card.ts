import { type AgentCard, type AgentParams, extensionUris } from '@shared/a2a/index.ts'
import type { Config } from '@shared/config/index.ts'
import type { Aid } from '@shared/wire/index.ts'
import { version } from './version.ts'

/**
 * What this agent says of itself, as JSON bytes for the network floor to sign (spec/network.md, Network card), made of
 * the configuration. Undefined without public skills: then the card is withdrawn and the agent is not listed. The same
 * configuration gives the same bytes, so that nothing is signed anew without a change.
 */
export function networkCardJson(config: Config, aid: Aid): Uint8Array | undefined {
  const skills = config.skills.filter((skill) => skill.public)
  if (skills.length === 0) return undefined
  const params: AgentParams | undefined =
    config.hub === undefined ? undefined : { charge: 'free', homeHub: config.hub.aid }
  const card: AgentCard = {
    name: config.agent.name ?? `agent ${aid.slice(0, 12)}`,
    description: config.agent.description ?? '',
    // the agent is reached through its hub by AID; a requester's own node adds the interfaces of its proxy card
    supportedInterfaces: [],
    version,
    capabilities: {
      streaming: true,
      pushNotifications: false,
      ...(params === undefined ? {} : { extensions: [{ uri: extensionUris.agent, params: { ...params } }] }),
    },
    defaultInputModes: ['text/plain', 'application/octet-stream'],
    defaultOutputModes: ['text/plain', 'application/octet-stream'],
    skills: skills.map(({ id, name, description, tags, examples }) => ({
      id,
      name,
      description,
      tags,
      ...(examples.length === 0 ? {} : { examples }),
    })),
  }
  return new TextEncoder().encode(JSON.stringify(card))
}
