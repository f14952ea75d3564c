import { z } from 'zod'
import {
  aidSchema,
  decodeBase64Url,
  decodeCbor,
  type DirectoryQuery,
  encodeBase64Url,
  encodeCbor,
  parseStatement,
} from '@shared/wire/index.ts'
import { HubError } from './errors.ts'
import { queryWords } from './membership/index.ts'
import { type RawCbor, rawArray, rawMap, rawValue } from './raw-cbor.ts'
import { type HubStore, type ListPosition, type MemberRecord, seenStep } from './store/index.ts'

const defaultLimit = 50
const answerBytes = 4 * 1024 * 1024
const maxCursorBytes = 256

const cursorSchema = z.object({ at: z.int().min(0), seen: z.int().min(0), aid: aidSchema })

/** Answers a directory query with encoded `searchAnswerSchema`. Error: `bad_request` for a cursor that is too old. */
export async function searchDirectory(store: HubStore, query: DirectoryQuery, now: number): Promise<RawCbor> {
  const words = queryWords(query.q)
  if (words?.length === 0) return rawMap(['agents', rawArray([])])
  const after = query.cursor === undefined ? undefined : readCursor(query.cursor, now)
  const { agents, next } = await store.listAgents({
    now,
    limit: query.limit ?? defaultLimit,
    bytes: answerBytes,
    ...(query.skill === undefined ? {} : { skill: query.skill }),
    ...(query.tag === undefined ? {} : { tag: query.tag }),
    ...(words === undefined ? {} : { words }),
    ...(after === undefined ? {} : { after }),
  })
  const records = rawArray(agents.map((agent) => encodeRecord(agent, now)))
  return next === undefined
    ? rawMap(['agents', records])
    : rawMap(['agents', records], ['cursor', rawValue(writeCursor(next))])
}

/**
 * Encoded `agentRecordSchema` of an agent. Its card is left out when nobody could verify it: expired, or signed before
 * the last rotation. A withdrawal is passed on, so that nobody keeps a card that its agent took back.
 */
export function encodeRecord(agent: MemberRecord, now: number): RawCbor {
  const { card } = agent
  const shown = card?.kind === 'card' && card.exp > now && card.ksn === agent.ksn && agent.key !== null
  return rawMap(
    ['aid', rawValue(agent.aid)],
    ...(shown ? [['card', [card.bytes]] as const] : []),
    ['keyset', [agent.keyset.bytes]],
    ['history', rawArray(agent.history.map((statement) => [statement]))],
    ['lastSeen', rawValue(agent.lastSeen)],
    ...(card?.kind === 'withdrawal' ? [['withdrawal', [card.bytes]] as const] : []),
  )
}

function writeCursor(position: ListPosition): string {
  return encodeBase64Url(encodeCbor(position))
}

function readCursor(cursor: string, now: number): ListPosition {
  const position = parseStatement(cursorSchema, decodeCbor(decodeBase64Url(cursor, maxCursorBytes), maxCursorBytes))
  if (now - position.at >= seenStep) {
    throw new HubError('bad_request', 'This cursor is too old. Begin the listing again.')
  }
  return position
}
