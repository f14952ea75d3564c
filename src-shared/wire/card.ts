import { z } from 'zod'
import { AnetError } from '../errors.ts'
import { type AgentCard, agentCardSchema } from '../a2a/card.ts'
import { isTooDeep } from './cbor.ts'
import { aidSchema } from './cid.ts'
import type { WireCrypto } from './crypto.ts'
import type { VerifiedHistory } from './key-history.ts'
import { verifyAuthor } from './key-set.ts'
import { limits } from './limits.ts'
import { bytesSchema, checkType, readStatement, type Signed } from './signed.ts'

/** What an agent says of itself: its A2A AgentCard as JSON bytes, exactly as it wrote them. */
export const networkCardSchema = z.object({
  aid: aidSchema,
  seq: z.int().min(0),
  issuedAt: z.int().min(0),
  exp: z.int().min(0),
  card: bytesSchema,
})
export type NetworkCard = z.infer<typeof networkCardSchema>

/** A withdrawal has a seq of the same series as the card, so that an older card cannot follow it. */
export const cardWithdrawalSchema = z.object({ aid: aidSchema, seq: z.int().min(0), at: z.int().min(0) })

export interface VerifiedCard {
  readonly network: NetworkCard
  readonly card: AgentCard
}

export type CardWithdrawal = z.infer<typeof cardWithdrawalSchema>

/** Reads a network card without checking who signed it or when. Errors: `card_malformed`, and those of the decoder. */
export function readNetworkCard(signed: Signed): VerifiedCard {
  const network = readStatement(checkType(signed, 'card'), networkCardSchema, limits.card.bytes)
  let json: unknown
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(network.card))
  } catch (cause) {
    throw new AnetError('card_malformed', 'This network card does not hold JSON.', { cause })
  }
  if (isTooDeep(json)) throw new AnetError('card_malformed', 'This network card is nested too deep.')
  const card = agentCardSchema.safeParse(json)
  if (!card.success) {
    const issue = card.error.issues[0]
    const field = issue?.path.map(String).join('.').slice(0, 100) ?? ''
    throw new AnetError('card_malformed', `This network card is not an A2A card: ${field} ${issue?.message ?? ''}.`)
  }
  return { network, card: card.data }
}

/**
 * Verifies a network card against the history of the agent that was asked for. `now` in milliseconds since 1970.
 * Errors: `card_expired`, `card_from_future`, `card_malformed`, and those of the statement decoder and of
 * {@link verifyAuthor}.
 */
export function verifyNetworkCard(
  crypto: WireCrypto,
  signed: Signed,
  history: VerifiedHistory,
  now: number,
): VerifiedCard {
  const verified = readNetworkCard(signed)
  const { aid, issuedAt, exp } = verified.network
  verifyAuthor(crypto, signed, aid, history)
  if (exp <= now || exp - issuedAt > limits.card.validFor) {
    throw new AnetError('card_expired', 'This network card is expired or valid for longer than 30 days.')
  }
  if (issuedAt > now + limits.message.futureSkew) {
    throw new AnetError('card_from_future', 'This network card was issued in the future. Check the clock.')
  }
  return verified
}

/** Verifies that the agent that was asked for took its card back. Errors as for a card. */
export function verifyCardWithdrawal(crypto: WireCrypto, signed: Signed, history: VerifiedHistory): CardWithdrawal {
  const withdrawal = readStatement(checkType(signed, 'card-withdrawal'), cardWithdrawalSchema, limits.card.bytes)
  verifyAuthor(crypto, signed, withdrawal.aid, history)
  return withdrawal
}
