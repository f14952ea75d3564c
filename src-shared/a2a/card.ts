import { z } from 'zod'
import { jsonObjectSchema } from './types.ts'

const shortText = z.string().max(4096)

export const skillSchema = z.object({
  id: shortText.min(1),
  name: shortText,
  description: z.string().max(16384),
  tags: z.array(shortText).max(64),
  examples: z.array(shortText).max(64).exactOptional(),
  inputModes: z.array(shortText).max(64).exactOptional(),
  outputModes: z.array(shortText).max(64).exactOptional(),
})
export type Skill = z.infer<typeof skillSchema>

export const agentExtensionSchema = z.object({
  uri: shortText.min(1),
  description: shortText.exactOptional(),
  required: z.boolean().exactOptional(),
  params: jsonObjectSchema.exactOptional(),
})

/** A2A 1.0 AgentCard in its wire form. Required fields stay even when they are empty. */
export const agentCardSchema = z.object({
  name: shortText,
  description: z.string().max(16384),
  supportedInterfaces: z
    .array(
      z.object({
        url: shortText,
        protocolBinding: shortText,
        protocolVersion: shortText,
        tenant: shortText.exactOptional(),
      }),
    )
    .max(16),
  provider: z.object({ organization: shortText, url: shortText }).exactOptional(),
  version: shortText,
  documentationUrl: shortText.exactOptional(),
  iconUrl: shortText.exactOptional(),
  capabilities: z.object({
    streaming: z.boolean().exactOptional(),
    pushNotifications: z.boolean().exactOptional(),
    extendedAgentCard: z.boolean().exactOptional(),
    extensions: z.array(agentExtensionSchema).max(32).exactOptional(),
  }),
  securitySchemes: jsonObjectSchema.exactOptional(),
  securityRequirements: z.array(jsonObjectSchema).exactOptional(),
  defaultInputModes: z.array(shortText).max(64),
  defaultOutputModes: z.array(shortText).max(64),
  skills: z.array(skillSchema).max(256),
  signatures: z
    .array(z.object({ protected: z.string(), signature: z.string(), header: jsonObjectSchema.exactOptional() }))
    .exactOptional(),
})
export type AgentCard = z.infer<typeof agentCardSchema>

export const extensionUris = {
  origin: 'https://anet.example/a2a/extensions/anet-origin/v1',
  preview: 'https://anet.example/a2a/extensions/anet-preview/v1',
  agent: 'https://anet.example/a2a/extensions/anet-agent/v1',
} as const

/** Params of the public extension `anet-agent/v1` on a network card (spec/network.md, Network card). */
export const agentParamsSchema = z.object({
  charge: z.enum(['free', 'partial', 'paid']),
  /** AID of the hub at which the agent reads its mail. */
  homeHub: z.string(),
})
export type AgentParams = z.infer<typeof agentParamsSchema>
