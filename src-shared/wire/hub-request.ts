import { AnetError } from '../errors.ts'
import { decodeBase64Url, encodeBase64Url } from './base64.ts'
import { equalBytes } from './cbor.ts'
import type { Aid } from './cid.ts'
import type { WireCrypto } from './crypto.ts'
import { type HubRequest, hubRequestSchema } from './hub-api.ts'
import { limits } from './limits.ts'
import {
  decodeSigned,
  encodeSigned,
  readStatement,
  type Signed,
  type SigningKey,
  signStatement,
  signedBytes,
  verifySignature,
} from './signed.ts'

const maxHeaderBytes = 8192

/** The value of the `anet-request` header for one request to the hub. `time` in milliseconds since 1970. */
export function signHubRequest(
  crypto: WireCrypto,
  key: SigningKey,
  request: { hub: Aid; time: number; method: string; path: string; body: Uint8Array },
): string {
  const value: HubRequest = {
    hub: request.hub,
    aid: key.aid,
    ksn: key.ksn,
    time: request.time,
    nonce: crypto.randomBytes(limits.request.nonceBytes),
    method: request.method,
    path: request.path,
    body: crypto.sha256(request.body),
  }
  return encodeBase64Url(encodeSigned(signStatement(crypto, 'hub-request', value, [key])))
}

/** A request header that was read but not checked yet. */
export interface OpenHubRequest {
  readonly request: HubRequest
  readonly signed: Signed
}

/** Reads the header: says who claims to ask for what. Check it with {@link checkHubRequestClaims} and {@link hubRequestSignature}. */
export function readHubRequest(header: string): OpenHubRequest {
  const signed = decodeSigned(decodeBase64Url(header, maxHeaderBytes), 'hub-request', maxHeaderBytes)
  return { signed, request: readStatement(signed, hubRequestSchema, maxHeaderBytes) }
}

/** What of a request is to be checked without a key: the hub, the method, the path with query, and the time. */
export interface ActualRequest {
  readonly hub: Aid
  readonly now: number
  readonly method: string
  readonly path: string
}

/** Compares a header with the request that carries it, before its body is read. Errors: `bad_signature`, `stale_request`. */
export function checkHubRequestClaims({ request }: OpenHubRequest, actual: ActualRequest): void {
  if (request.hub !== actual.hub || request.method !== actual.method || request.path !== actual.path) {
    throw badSignature()
  }
  if (Math.abs(actual.now - request.time) > limits.request.skew) {
    throw new AnetError('stale_request', 'The time of this request is more than five minutes off. Check the clock.')
  }
}

/** The bytes that the requester signed and its signature, undefined if the header has none of it. */
export function hubRequestSignature({
  request,
  signed,
}: OpenHubRequest): { data: Uint8Array; signature: Uint8Array } | undefined {
  const found = signed.sigs.find(({ by, ksn }) => by === request.aid && ksn === request.ksn)
  if (found === undefined) return undefined
  return { data: signedBytes(signed.t, request.aid, request.ksn, signed.v), signature: found.sig }
}

/**
 * Reads the header and compares it with the request that carries it. The caller has still to look up the agent's key
 * for {@link verifyHubRequest}'s `keyOf` and to use up the nonce. Errors: `bad_signature`, `stale_request`.
 */
export function verifyHubRequest(
  crypto: WireCrypto,
  header: string,
  actual: { hub: Aid; now: number; method: string; path: string; bodyHash: Uint8Array },
  keyOf: (aid: Aid, ksn: number) => Uint8Array | undefined,
): HubRequest {
  const open = readHubRequest(header)
  const { request, signed } = open
  const key = keyOf(request.aid, request.ksn)
  const isAuthentic = key !== undefined && verifySignature(crypto, signed, request.aid, request.ksn, key)
  if (!isAuthentic || !equalBytes(request.body, actual.bodyHash)) throw badSignature()
  checkHubRequestClaims(open, actual)
  return request
}

function badSignature(): AnetError {
  return new AnetError('bad_signature', 'The signature of this request does not fit it.')
}
