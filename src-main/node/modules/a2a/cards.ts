import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import {
  type AgentCard,
  agentParamsSchema,
  type AgentParams,
  extensionUris,
  type JsonObject,
  type Skill,
} from '@shared/a2a/index.ts'
import { type Aid, encodeBase64Url } from '@shared/wire/index.ts'
import type { Identity, Peer } from '../../identity/index.ts'
import { A2aFailure } from './errors.ts'

/** The scope that clients name with the local token. A list left empty canonicalises differently across SDKs. */
const scope = 'a2a'
const keptCards = 4096

export interface SignedCard {
  readonly card: AgentCard
  readonly json: string
  /** Strong, with quotes; changes with the content only. */
  readonly etag: string
}

/**
 * Proxy cards: what this node says of a remote agent, signed with this node's key (seed, The proxy card). Each content is
 * signed once, so that bytes and ETag are stable while the content is.
 */
export class Cards {
  readonly #identity: Pick<Identity, 'aid' | 'ksn' | 'signRaw'>
  readonly #signed = new Map<Aid, SignedCard & { readonly payload: string }>()

  constructor(identity: Pick<Identity, 'aid' | 'ksn' | 'signRaw'>) {
    this.#identity = identity
  }

  /** `agentsUrl`: `http://127.0.0.1:<port>/a2a/v1/agents`. Without a verified peer the card is a placeholder. */
  proxyCard(aid: Aid, peer: Peer | undefined, agentsUrl: string): SignedCard {
    const content = proxyContent(aid, peer, `${agentsUrl}/${aid}`, this.#identity.aid)
    const payload = canonical(content)
    const kid = `${this.#identity.aid}#${this.#identity.ksn}`
    const stamp = `${kid} ${payload}`
    const known = this.#signed.get(aid)
    if (known?.payload === stamp) return known
    const card: AgentCard = { ...content, signatures: [this.#sign(payload, kid)] }
    const json = JSON.stringify(card)
    const etag = `"${createHash('sha256').update(json).digest('base64url')}"`
    const signed = { card, json, etag, payload: stamp }
    this.#signed.delete(aid)
    this.#signed.set(aid, signed)
    for (const oldest of this.#signed.keys()) {
      if (this.#signed.size <= keptCards) break
      this.#signed.delete(oldest)
    }
    return signed
  }

  /** The extended card is served only where the proxy card declares it. */
  extendedCard(): never {
    throw new A2aFailure('UnsupportedOperationError', 'This agent has no extended card: it charges nothing here.')
  }

  /** JWS (RFC 7515) over the canonical form; the private key stays in the identity. */
  #sign(payload: string, kid: string): { protected: string; signature: string } {
    const header = encodeBase64Url(Buffer.from(JSON.stringify({ alg: 'EdDSA', typ: 'JOSE', kid })))
    const input = Buffer.from(`${header}.${encodeBase64Url(Buffer.from(payload))}`)
    return { protected: header, signature: encodeBase64Url(this.#identity.signRaw(input)) }
  }
}

/** A card that was verified, of an agent that shows one history to everybody. Nothing else is passed on. */
export function verifiedCard(peer: Peer | undefined): Peer['card'] {
  return peer === undefined || peer.forked ? undefined : peer.card
}

/** What the agent says of its prices and its hub, if its card has the extension `anet-agent/v1`. */
export function agentParams(card: AgentCard): AgentParams | undefined {
  const extension = card.capabilities.extensions?.find(({ uri }) => uri === extensionUris.agent)
  return agentParamsSchema.safeParse(extension?.params).data
}

/** The name that people know the agent by, or one made from its AID. */
function shownName(aid: Aid, peer: Peer | undefined): string {
  return verifiedCard(peer)?.card.name ?? `agent ${aid.slice(0, 12)}`
}

function proxyContent(aid: Aid, peer: Peer | undefined, url: string, signer: Aid): AgentCard {
  const remote = verifiedCard(peer)?.card
  const sentence = `Proxy card: stated and signed by the local ANet node ${signer.slice(0, 12)}, not by the agent.`
  return {
    name: shownName(aid, peer),
    description: remote === undefined || remote.description === '' ? sentence : `${remote.description}\n\n${sentence}`,
    supportedInterfaces: [
      { url: `${url}/jsonrpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    ],
    ...(remote?.provider === undefined ? {} : { provider: remote.provider }),
    version: remote?.version ?? '0',
    capabilities: {
      streaming: true,
      pushNotifications: false,
      extendedAgentCard: false,
      extensions: [
        {
          uri: extensionUris.origin,
          description: 'What the remote agent said of itself, and what this node could verify of it.',
          params: originParams(aid, peer),
        },
        {
          uri: extensionUris.preview,
          description: 'Streams carry snapshots of a reply that is still being written.',
        },
      ],
    },
    securitySchemes: {
      anetLocal: {
        httpAuthSecurityScheme: {
          scheme: 'Bearer',
          description: 'The token in modules/a2a/a2a_token.txt of the data directory.',
        },
      },
    },
    securityRequirements: [{ schemes: { anetLocal: { list: [scope] } } }],
    defaultInputModes: remote?.defaultInputModes ?? ['text/plain'],
    defaultOutputModes: remote?.defaultOutputModes ?? ['text/plain'],
    skills: (remote?.skills ?? []).map(withoutEmptyLists),
  }
}

function originParams(aid: Aid, peer: Peer | undefined): JsonObject {
  const verified = verifiedCard(peer) !== undefined
  return {
    aid,
    originVerification: verified ? 'VERIFIED' : 'UNVERIFIED',
    keyState: peer?.keyState ?? 'stale',
    ...(verified && peer?.cardBytes !== undefined ? { originCard: encodeBase64Url(peer.cardBytes) } : {}),
  }
}

/** ProtoJSON drops empty optional lists; the signed form must not depend on who writes it. */
function withoutEmptyLists(skill: Skill): Skill {
  const { examples, inputModes, outputModes, ...rest } = skill
  return {
    ...rest,
    ...(examples === undefined || examples.length === 0 ? {} : { examples }),
    ...(inputModes === undefined || inputModes.length === 0 ? {} : { inputModes }),
    ...(outputModes === undefined || outputModes.length === 0 ? {} : { outputModes }),
  }
}

function canonical(card: AgentCard): string {
  const text = canonicalize(card)
  if (text === undefined) throw new Error('A card has no canonical form.')
  return text
}
