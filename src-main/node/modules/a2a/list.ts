import { isAnetError } from '@shared/errors.ts'
import type { Aid, DirectoryQuery } from '@shared/wire/index.ts'
import type { Directory, DirectoryEntry } from '../../network/index.ts'
import type { Refusal } from './answer.ts'
import { agentParams, verifiedCard } from './cards.ts'

const defaultLimit = 50
const maxLimit = 200

/**
 * The list of remote agents as JSON (seed, Routes): `{agents, nextCursor}`, from the local directory at once. A wrong
 * parameter is refused. `agentsUrl`: see {@link Cards.proxyCard}.
 */
export function listAgents(directory: Directory, own: Aid, agentsUrl: string, query: string): string | Refusal {
  const parsed = readQuery(query)
  if ('status' in parsed) return parsed
  try {
    const page = directory.list(parsed)
    const agents = page.agents.filter(({ aid }) => aid !== own).map((entry) => listed(entry, agentsUrl))
    return JSON.stringify({ agents, nextCursor: page.nextCursor })
  } catch (error) {
    // a cursor of somewhere else, or one that was cut short
    if (isAnetError(error)) return badRequest(error.message)
    throw error
  }
}

/** One agent. Only what its verified card says is described. */
function listed({ aid, peer, lastSeen }: DirectoryEntry, agentsUrl: string): Record<string, unknown> {
  const url = `${agentsUrl}/${aid}`
  const card = verifiedCard(peer)?.card
  const entry = {
    aid,
    url,
    cardUrl: `${url}/.well-known/agent-card.json`,
    verification: card === undefined ? 'UNVERIFIED' : 'VERIFIED',
    keyState: peer?.keyState ?? 'stale',
  }
  if (card === undefined) return entry
  const params = agentParams(card)
  return {
    ...entry,
    name: card.name,
    ...(params === undefined ? {} : { homeHub: params.homeHub, charge: params.charge }),
    lastSeen: new Date(lastSeen).toISOString(),
    // no hub collects reviews yet: nobody has given one
    reviewCount: 0,
  }
}

function readQuery(query: string): DirectoryQuery | Refusal {
  const given = new URLSearchParams(query)
  const limit = given.get('limit')
  if (limit !== null && (!/^[1-9]\d{0,2}$/.test(limit) || Number(limit) > maxLimit)) {
    return badRequest(`limit must be a number from 1 to ${maxLimit}.`)
  }
  for (const name of ['skill', 'tag', 'q', 'cursor', 'limit']) {
    if (given.getAll(name).length > 1) return badRequest(`${name} may be given once.`)
  }
  const result: { -readonly [K in keyof DirectoryQuery]: DirectoryQuery[K] } = {
    limit: limit === null ? defaultLimit : Number(limit),
  }
  for (const [name, most] of [
    ['skill', 256],
    ['tag', 256],
    ['q', 512],
    ['cursor', 512],
  ] as const) {
    const value = given.get(name)
    if (value === null || value === '') continue
    if (value.length > most) return badRequest(`${name} may have ${most} characters.`)
    result[name] = value
  }
  return result
}

function badRequest(message: string): Refusal {
  return { status: 400, message }
}
