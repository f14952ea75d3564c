import { z } from 'zod'
import { AnetError } from '../errors.ts'
import { decodeCbor, encodeCbor, parseStatement } from './cbor.ts'
import { type Aid, aidSchema, type Cid, cidOf } from './cid.ts'
import type { WireCrypto } from './crypto.ts'

export const statementTypes = [
  'key-history',
  'key-set',
  'card',
  'card-withdrawal',
  'head',
  'message',
  'hub-request',
  'receipt',
  'evidence-head',
] as const
export type StatementType = (typeof statementTypes)[number]

export interface Signature {
  readonly by: Aid
  /** Which key signed: the `seq` of the statement in the history of `by` that established it. */
  readonly ksn: number
  readonly sig: Uint8Array
}

/**
 * A signed statement (spec/network.md). `v` stays the canonical DAG-CBOR bytes that were signed. Each signature is
 * Ed25519 over the DAG-CBOR of `["anet/1", t, by, ksn, v]`: one type's signature is worthless for another.
 */
export interface Signed {
  readonly t: StatementType
  readonly v: Uint8Array
  readonly sigs: readonly Signature[]
}

export const bytesSchema = z.custom<Uint8Array>((value) => value instanceof Uint8Array, 'must be bytes')
export const signedSchema = z.object({
  t: z.enum(statementTypes),
  v: bytesSchema,
  sigs: z
    .array(
      z.object({
        by: aidSchema,
        ksn: z.int().min(0).max(255),
        sig: bytesSchema.refine((sig) => sig.byteLength === 64, 'an Ed25519 signature has 64 bytes'),
      }),
    )
    .min(1)
    .max(2),
})

export interface SigningKey {
  readonly aid: Aid
  readonly ksn: number
  /** Ed25519 seed, 32 bytes. */
  readonly privateKey: Uint8Array
}

export function signedBytes(t: StatementType, by: Aid, ksn: number, v: Uint8Array): Uint8Array {
  return encodeCbor(['anet/1', t, by, ksn, v])
}

/** Encodes `value` and signs it once with each key. */
export function signStatement(
  crypto: WireCrypto,
  t: StatementType,
  value: unknown,
  keys: readonly SigningKey[],
): Signed {
  return signEncoded(crypto, t, encodeCbor(value), keys)
}

/** Signs a value that is already encoded; `v` must be canonical DAG-CBOR. */
export function signEncoded(crypto: WireCrypto, t: StatementType, v: Uint8Array, keys: readonly SigningKey[]): Signed {
  return {
    t,
    v,
    sigs: keys.map(({ aid, ksn, privateKey }) => ({
      by: aid,
      ksn,
      sig: crypto.ed25519Sign(privateKey, signedBytes(t, aid, ksn, v)),
    })),
  }
}

/** The id of a statement: the CID of `v`. Signatures are not part of it. */
export function statementId(crypto: Pick<WireCrypto, 'sha256'>, signed: Signed): Cid {
  return cidOf(crypto, signed.v)
}

/** Wire and storage form of a signed statement: DAG-CBOR of `{sigs, t, v}`. */
export function encodeSigned(signed: Signed): Uint8Array {
  return encodeCbor({ t: signed.t, v: signed.v, sigs: signed.sigs.map(({ by, ksn, sig }) => ({ by, ksn, sig })) })
}

/** Decodes the outer form only; no signature is checked yet. Another type than asked for is `statement_wrong_type`. */
export function decodeSigned(bytes: Uint8Array, t: StatementType, maxBytes: number): Signed {
  return checkType(parseStatement(signedSchema, decodeCbor(bytes, maxBytes)), t)
}

export function checkType(signed: Signed, t: StatementType): Signed {
  if (signed.t !== t)
    throw new AnetError('statement_wrong_type', `A "${signed.t}" statement stands where "${t}" was expected.`)
  return signed
}

/** Reads the signed value. Says nothing about who signed it: see {@link verifySignature}. */
export function readStatement<S extends z.ZodObject>(signed: Signed, schema: S, maxBytes: number): z.infer<S> {
  return parseStatement(schema, decodeCbor(signed.v, maxBytes))
}

/** True if `signed` carries a valid signature of `by` made with key number `ksn`, which is `publicKey`. */
export function verifySignature(
  crypto: WireCrypto,
  signed: Signed,
  by: Aid,
  ksn: number,
  publicKey: Uint8Array,
): boolean {
  const signature = signed.sigs.find((candidate) => candidate.by === by && candidate.ksn === ksn)
  return (
    signature !== undefined && crypto.ed25519Verify(publicKey, signedBytes(signed.t, by, ksn, signed.v), signature.sig)
  )
}
