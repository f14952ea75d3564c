import { z } from 'zod'
import { decodeCbor, encodeCbor, parseStatement } from './cbor.ts'
import { type Aid, aidSchema } from './cid.ts'
import { sealingSuite } from './key-set.ts'
import { limits } from './limits.ts'
import { bytesSchema } from './signed.ts'

/**
 * A sealed message as the hub sees it. The plaintext under HPKE is the padded encoding of a signed `message` statement
 * (see {@link pad} and {@link encodeSigned}); {@link envelopeInfo} is the HPKE `info`.
 */
export const envelopeSchema = z.object({
  p: z.literal('anet/1'),
  to: aidSchema,
  suite: z.literal(sealingSuite),
  kid: z.string().regex(/^[0-9a-f]{16}$/),
  /** HPKE encapsulated key. */
  enc: bytesSchema.refine((enc) => enc.byteLength === 32, 'must have 32 bytes'),
  ct: bytesSchema,
})
export type Envelope = z.infer<typeof envelopeSchema>

export function encodeEnvelope(envelope: Envelope): Uint8Array {
  return encodeCbor(envelope)
}

export function decodeEnvelope(bytes: Uint8Array): Envelope {
  return parseStatement(envelopeSchema, decodeCbor(bytes, limits.message.envelopeBytes))
}

/** HPKE `info`: binds a sealed message to protocol, recipient, suite and key. */
export function envelopeInfo(to: Aid, kid: string): Uint8Array {
  return encodeCbor({ protocol: 'anet/1', to, suite: sealingSuite, kid })
}
