import { CID } from 'multiformats/cid'
import * as Digest from 'multiformats/hashes/digest'
import { z } from 'zod'
import type { WireCrypto } from './crypto.ts'

/** CIDv1 (dag-cbor, sha2-256) in base32: 59 characters that begin with `bafyrei`. */
export type Cid = string
/** Agent identifier: the CID of the agent's inception statement without its `aid` (spec/network.md, Identity). */
export type Aid = string

const dagCborCode = 0x71
const sha256Code = 0x12

/** The CID of a DAG-CBOR block. */
export function cidOf(crypto: Pick<WireCrypto, 'sha256'>, block: Uint8Array): Cid {
  return CID.createV1(dagCborCode, Digest.create(sha256Code, crypto.sha256(block))).toString()
}

/**
 * Whether `text` is a {@link Cid}. All that a CID of this kind can begin with fits into eight characters, and the last
 * character holds three bits only: so the form says it all, and nothing has to be decoded.
 */
export function isCid(text: string): boolean {
  return /^bafyrei[a-h][a-z2-7]{50}[aeimquy4]$/.test(text)
}

export const cidSchema = z.string().refine(isCid, 'not a CID of DAG-CBOR and SHA-256')
export const aidSchema = cidSchema
