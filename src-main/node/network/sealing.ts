import { AnetError } from '@shared/errors.ts'
import {
  type Aid,
  decodeEnvelope,
  decodeSigned,
  encodeCbor,
  encodeEnvelope,
  encodeSigned,
  type EncryptionKey,
  envelopeInfo,
  type Inner,
  innerSchema,
  limits,
  pad,
  readStatement,
  sealingSuite,
  type Signed,
  signedBytes,
  type SigningKey,
  signEncoded,
  unpad,
  type VerifiedHistory,
  verifyHistory,
  verifySignature,
  type WireCrypto,
} from '@shared/wire/index.ts'
import type { Identity } from '../identity/index.ts'
import type { Clock } from '../ports.ts'
import { largeBytes, sha256Large, signLarge, verifyLarge } from './large-crypto.ts'
import { createHpkeSuite } from './hpke-suite.ts'
import { encodeInner, type InnerFields } from './inner.ts'

/** A message whose seal opened and whose signature fits the history that it carries. Nothing is stored yet. */
export interface Opened {
  readonly inner: Inner
  readonly signed: Signed
  /** Number of the key that signed, which is the newest of `history`. */
  readonly ksn: number
  readonly key: Uint8Array
  readonly history: VerifiedHistory
  /** SHA-256 of type and body: what one `mid` may stand for once. */
  readonly digest: Uint8Array
}

export interface Sealing {
  /** Signs, pads and seals one message to `to`. The body is given as it is encoded. */
  seal(fields: InnerFields, rawBody: Uint8Array, key: EncryptionKey, signer: SigningKey): Promise<Uint8Array>
  /**
   * Opens an envelope and checks all that needs no stored state, in the order of spec/network.md. Every error is
   * permanent: `envelope_too_large`, `envelope_wrong_recipient`, `envelope_unknown_key`, `envelope_does_not_open`,
   * `message_bad_padding`, `message_wrong_recipient`, `message_bad_signature`, `message_deactivated_key`,
   * `message_from_future`, `message_valid_too_long`, `message_expired`, and those of the wire decoders and verifiers.
   */
  open(envelope: Uint8Array): Promise<Opened>
}

const suite = createHpkeSuite()
const cachedKeys = 256
type HpkeKey = Awaited<ReturnType<typeof suite.kem.deserializePublicKey>>

/** HPKE base mode to the recipient's encryption key; sender and content are visible to the recipient alone. */
export function createSealing(parts: { identity: Identity; crypto: WireCrypto; clock: Clock }): Sealing {
  const { identity, crypto, clock } = parts
  const publicKeys = keyCache((raw) => suite.kem.deserializePublicKey(raw))
  const privateKeys = keyCache((raw) => suite.kem.deserializePrivateKey(raw))

  return {
    async seal(fields, rawBody, key, signer) {
      const signed = await signMessage(crypto, encodeInner(fields, rawBody), signer)
      const plaintext = pad(encodeSigned(signed))
      if (plaintext.byteLength > limits.message.bytes)
        throw new AnetError('message_too_large', `This message is over the limit of ${limits.message.bytes} bytes.`)
      const sealed = await suite.seal(
        {
          recipientPublicKey: await publicKeys(`${key.kid} ${key.key.join()}`, key.key),
          info: buffer(envelopeInfo(fields.to, key.kid)),
        },
        buffer(plaintext),
      )
      return encodeEnvelope({
        p: 'anet/1',
        to: fields.to,
        suite: sealingSuite,
        kid: key.kid,
        enc: new Uint8Array(sealed.enc),
        ct: new Uint8Array(sealed.ct),
      })
    },

    async open(bytes) {
      const plaintext = await unseal(bytes)
      const signed = decodeSigned(unpad(plaintext), 'message', limits.message.bytes)
      const inner = readStatement(signed, innerSchema, limits.message.bytes)
      if (inner.to !== identity.aid)
        throw new AnetError('message_wrong_recipient', `This message was written to ${inner.to}.`)
      const author = await verifyAuthorOf(crypto, signed, inner)
      checkTimes(inner, clock.now())
      const body = encodeCbor({ type: inner.type, body: inner.body })
      const digest = body.byteLength > largeBytes ? await sha256Large(body) : crypto.sha256(body)
      return { inner, signed, digest, ...author }
    },
  }

  async function unseal(bytes: Uint8Array): Promise<Uint8Array> {
    if (bytes.byteLength > limits.message.envelopeBytes)
      throw new AnetError('envelope_too_large', `An envelope has at most ${limits.message.envelopeBytes} bytes.`)
    const envelope = decodeEnvelope(bytes)
    if (envelope.to !== identity.aid)
      throw new AnetError('envelope_wrong_recipient', `This envelope is addressed to ${envelope.to}.`)
    const privateKey = identity.encryptionPrivateKey(envelope.kid)
    if (privateKey === undefined) {
      throw new AnetError('envelope_unknown_key', `This node has no encryption key ${envelope.kid}, or no longer.`)
    }
    try {
      const opened = await suite.open(
        {
          recipientKey: await privateKeys(envelope.kid, privateKey),
          enc: buffer(envelope.enc),
          info: buffer(envelopeInfo(envelope.to, envelope.kid)),
        },
        buffer(envelope.ct),
      )
      return new Uint8Array(opened)
    } catch (cause) {
      throw new AnetError('envelope_does_not_open', 'This envelope was altered or sealed to another key.', { cause })
    }
  }
}

/** The history that came with the message decides which key had to sign it: the newest one. */
async function verifyAuthorOf(
  crypto: WireCrypto,
  signed: Signed,
  inner: Inner,
): Promise<{ ksn: number; key: Uint8Array; history: VerifiedHistory }> {
  const history = verifyHistory(crypto, inner.history, inner.from)
  if (history.key === null)
    throw new AnetError('message_deactivated_key', `The identity ${inner.from} was deactivated by its owner.`)
  if (!(await isSignedBy(crypto, signed, inner.from, history.seq, history.key))) {
    throw new AnetError('message_bad_signature', `This message is not signed by the key in use of ${inner.from}.`)
  }
  return { ksn: history.seq, key: history.key, history }
}

async function signMessage(crypto: WireCrypto, v: Uint8Array, signer: SigningKey): Promise<Signed> {
  if (v.byteLength <= largeBytes) return signEncoded(crypto, 'message', v, [signer])
  const { aid, ksn, privateKey } = signer
  const sig = await signLarge(privateKey, signedBytes('message', aid, ksn, v))
  return { t: 'message', v, sigs: [{ by: aid, ksn, sig }] }
}

async function isSignedBy(crypto: WireCrypto, signed: Signed, by: Aid, ksn: number, key: Uint8Array): Promise<boolean> {
  if (signed.v.byteLength <= largeBytes) return verifySignature(crypto, signed, by, ksn, key)
  const found = signed.sigs.find((candidate) => candidate.by === by && candidate.ksn === ksn)
  return found !== undefined && (await verifyLarge(key, signedBytes(signed.t, by, ksn, signed.v), found.sig))
}

function checkTimes({ ts, exp }: Inner, now: number): void {
  if (ts > now + limits.message.futureSkew)
    throw new AnetError('message_from_future', 'This message is dated more than ten minutes ahead of this clock.')
  if (exp > ts + limits.message.validFor)
    throw new AnetError('message_valid_too_long', 'This message claims to be valid for longer than 14 days.')
  if (exp <= now) throw new AnetError('message_expired', 'This message has expired.')
}

/** Importing a key costs as much as using it: keep what is in use. Names never hold private bytes. */
function keyCache(parse: (raw: ArrayBuffer) => Promise<HpkeKey>): (name: string, raw: Uint8Array) => Promise<HpkeKey> {
  const keys = new Map<string, HpkeKey>()
  return async (name, raw) => {
    let key = keys.get(name)
    if (key === undefined) {
      key = await parse(buffer(raw))
      if (keys.size >= cachedKeys) keys.clear()
      keys.set(name, key)
    }
    return key
  }
}

/** Memory of its own for WebCrypto: a view into a larger buffer is copied, everything else is handed on as it is. */
function buffer(bytes: Uint8Array): ArrayBuffer {
  const whole = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength
  return (whole ? bytes : new Uint8Array(bytes)).buffer as ArrayBuffer
}
