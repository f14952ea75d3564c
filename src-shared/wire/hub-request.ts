import { AnetError } from '../errors.ts'
import { decodeBase64Url, encodeBase64Url } from './base64.ts'
import type { Aid } from './cid.ts'
import type { WireCrypto } from './crypto.ts'
import { type HubRequest, hubRequestSchema } from './hub-api.ts'
import { limits } from './limits.ts'
import { decodeSigned, encodeSigned, readStatement, type SigningKey, signStatement, verifySignature } from './signed.ts'

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
  const signed = decodeSigned(decodeBase64Url(header, maxHeaderBytes), 'hub-request', maxHeaderBytes)
  const request = readStatement(signed, hubRequestSchema, maxHeaderBytes)
  const same =
    request.hub === actual.hub &&
    request.method === actual.method &&
    request.path === actual.path &&
    request.body.every((byte, index) => byte === actual.bodyHash[index])
  const key = same ? keyOf(request.aid, request.ksn) : undefined
  if (key === undefined || !verifySignature(crypto, signed, request.aid, request.ksn, key)) {
    throw new AnetError('bad_signature', 'The signature of this request does not fit it.')
  }
  if (Math.abs(actual.now - request.time) > limits.request.skew) {
    throw new AnetError('stale_request', 'The time of this request is more than five minutes off. Check the clock.')
  }
  return request
}
