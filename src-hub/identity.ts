import { join } from 'node:path'
import { z } from 'zod'
import { AnetError } from '@shared/errors.ts'
import {
  type Aid,
  bytesSchema,
  createInception,
  decodeCbor,
  encodeCbor,
  type KeyHistory,
  parseStatement,
  signedSchema,
  type SigningKey,
  verifyHistory,
} from '@shared/wire/index.ts'
import { crypto } from './crypto.ts'
import type { HubClock } from './options.ts'
import { readPrivate, writePrivate } from './private-files.ts'

const keyFile = 'hub_key'
const nextKeyFile = 'hub_next_key'
const maxKeyFileBytes = 128 * 1024

const bytes32 = bytesSchema.refine((bytes) => bytes.byteLength === 32, 'must have 32 bytes')
const keyFileSchema = z.object({ version: z.literal(1), privateKey: bytes32, history: z.array(signedSchema).min(1) })

export interface HubIdentity {
  readonly aid: Aid
  readonly history: KeyHistory
  readonly key: SigningKey
}

/**
 * The hub's own identity from its data directory; made at the first start, the same ever after. `used` says that the
 * directory has served before: then a missing key is not replaced, since every member has pinned its AID.
 * Errors: `hub_key_missing`, `hub_key_damaged`.
 */
export async function openHubIdentity(
  dataDir: string,
  options: { clock: HubClock; used: boolean; fault: (point: string) => void },
): Promise<HubIdentity> {
  const path = join(dataDir, keyFile)
  const stored = await readPrivate(path, maxKeyFileBytes)
  if (stored !== undefined) return readIdentity(stored, path)
  if (options.used) {
    throw new AnetError('hub_key_missing', `The hub has served from ${dataDir}, but its key is not there.`, {
      remedy: `Put ${keyFile} back from a backup. Without it the members do not recognize the hub.`,
    })
  }
  const privateKey = crypto.randomBytes(32)
  const nextKey = crypto.randomBytes(32)
  const { statement } = createInception(crypto, {
    privateKey,
    nextCommitment: crypto.sha256(crypto.ed25519PublicKey(nextKey)),
    at: options.clock.now(),
  })
  await writePrivate(join(dataDir, nextKeyFile), encodeCbor({ version: 1, privateKey: nextKey }))
  const content = encodeCbor({ version: 1, privateKey, history: [statement] })
  await writePrivate(path, content)
  options.fault('hub.identity.saved')
  return readIdentity(content, path)
}

function readIdentity(content: Uint8Array, path: string): HubIdentity {
  try {
    const file = parseStatement(keyFileSchema, decodeCbor(new Uint8Array(content), maxKeyFileBytes))
    const verified = verifyHistory(crypto, file.history)
    const publicKey = crypto.ed25519PublicKey(file.privateKey)
    if (verified.key === null || verified.key.some((byte, index) => byte !== publicKey[index])) {
      throw new AnetError('hub_key_damaged', 'The key does not fit its history.')
    }
    return {
      aid: verified.aid,
      history: file.history,
      key: { aid: verified.aid, ksn: verified.seq, privateKey: file.privateKey },
    }
  } catch (cause) {
    throw new AnetError('hub_key_damaged', `The hub's key in ${path} cannot be read.`, {
      remedy: 'Put it back from a backup.',
      cause,
    })
  }
}
