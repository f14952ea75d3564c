import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { isAnetError } from '@shared/errors.ts'
import { aidSchema, type Aid, decodeCbor, encodeCbor, equalBytes, parseStatement } from '@shared/wire/index.ts'
import { createPrivateFile, readPrivateFile, writePrivateFile } from '../data-dir/index.ts'
import { keyFileDamaged } from './errors.ts'
import { passphraseSlotSchema } from './passphrase.ts'
import { type SealedBox, sealBox, sealedBoxSchema } from './sealed-box.ts'

const maxBytes = 512 * 1024
const sumBytes = 32
const format = 'anet-keys/1'

/** How the wrapping key is found again. */
const slotSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('keychain'), account: z.string().min(1).max(128) }),
  passphraseSlotSchema,
  z.object({ kind: z.literal('file'), name: z.string().regex(/^wrapping-[0-9a-f]{16}\.key$/) }),
])
export type Slot = z.infer<typeof slotSchema>

/**
 * The key file `keys/keys.sealed`: SHA-256 of the rest (32 bytes; tells damage from a wrong passphrase), then this as
 * DAG-CBOR. One file holds the choice of the store and all keys, so that a set-up happens whole or not at all.
 */
const keyFileSchema = z.object({
  format: z.literal(format),
  aid: aidSchema,
  /** Which wrapping key: see {@link fingerprintOf}. */
  fingerprint: z.string().regex(/^[0-9a-f]{64}$/),
  slot: slotSchema,
  /** Second slot: the wrapping key, sealed to a key derived from the recovery phrase. */
  phrase: sealedBoxSchema,
  /** The identity's private keys, sealed under the wrapping key. */
  keys: sealedBoxSchema,
})
export type KeyFile = z.infer<typeof keyFileSchema>

/** What a sealed box of the key file is bound to. */
export function placeOf(what: 'slot' | 'phrase' | 'keys', aid: Aid): readonly string[] {
  return [format, what, aid]
}

/** Names a wrapping key without telling it: SHA-256 over a domain and the key, hex. */
export function fingerprintOf(wrappingKey: Uint8Array): string {
  return createHash('sha256').update('anet/wrapping-key\0').update(wrappingKey).digest('hex')
}

export function keysDirectory(dataDir: string): string {
  return join(dataDir, 'keys')
}

function keyFilePath(dataDir: string): string {
  return join(keysDirectory(dataDir), 'keys.sealed')
}

/** Undefined if there is none. One that is not whole is `key_file_damaged`; others: those of readPrivateFile. */
export async function readKeyFile(dataDir: string): Promise<KeyFile | undefined> {
  let bytes: Uint8Array | undefined
  try {
    bytes = await readPrivateFile(keyFilePath(dataDir), { maxBytes })
  } catch (cause) {
    // what a person can put right says so itself: a link, a foreign owner, rights
    if (isAnetError(cause) && cause.code !== 'file_too_large') throw cause
    throw keyFileDamaged('it cannot be read.', cause)
  }
  if (bytes === undefined) return undefined
  const body = bytes.slice(sumBytes)
  if (!equalBytes(sumOf(body), bytes.subarray(0, sumBytes))) throw keyFileDamaged('its bytes have changed.')
  try {
    return parseStatement(keyFileSchema, decodeCbor(body, maxBytes))
  } catch (cause) {
    throw keyFileDamaged('it is not of a format that this version knows.', cause)
  }
}

/** Writes the first key file. False if there is one already: then nothing was changed. */
export async function createKeyFile(dataDir: string, file: KeyFile): Promise<boolean> {
  return await createPrivateFile(keyFilePath(dataDir), encode(file))
}

export async function replaceKeyFile(dataDir: string, file: KeyFile): Promise<void> {
  await writePrivateFile(keyFilePath(dataDir), encode(file))
}

export function sealKeys(wrappingKey: Uint8Array, aid: Aid, keys: Uint8Array): SealedBox {
  return sealBox(wrappingKey, placeOf('keys', aid), keys)
}

function encode(file: KeyFile): Uint8Array {
  const body = encodeCbor(file)
  return new Uint8Array(Buffer.concat([sumOf(body), body]))
}

function sumOf(body: Uint8Array): Uint8Array {
  return createHash('sha256').update(body).digest()
}
