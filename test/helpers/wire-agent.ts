import * as nodeCrypto from 'node:crypto'
import {
  createInception,
  type EncryptionKey,
  type KeyHistory,
  limits,
  sealingSuite,
  type Signed,
  type SigningKey,
  signStatement,
  statementId,
  wireCrypto,
} from '@shared/wire/index.ts'
import type { Identity } from '../../src-main/node/identity/index.ts'

export const crypto = wireCrypto(nodeCrypto)

/** Keys of one agent in memory: an Identity for tests that need no disk, with keys that a test can also misuse. */
export interface WireAgent {
  readonly identity: Identity
  readonly signingKey: SigningKey
  readonly encryptionKey: EncryptionKey
  forgetEncryptionKey(): void
}

export function wireAgent(now = Date.now()): WireAgent {
  const privateKey = crypto.randomBytes(32)
  const next = crypto.ed25519PublicKey(crypto.randomBytes(32))
  const { aid, statement } = createInception(crypto, { privateKey, nextCommitment: crypto.sha256(next), at: now })
  const signingKey = { aid, ksn: 0, privateKey }
  const history: KeyHistory = [statement]
  const { publicKey, privateKey: secret } = nodeCrypto.generateKeyPairSync('x25519')
  const raw = new Uint8Array(Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url'))
  const secretRaw = new Uint8Array(Buffer.from(secret.export({ format: 'jwk' }).d ?? '', 'base64url'))
  const kid = Buffer.from(crypto.sha256(raw)).toString('hex', 0, 8)
  const encryptionKey: EncryptionKey = {
    kid,
    suite: sealingSuite,
    key: raw,
    from: now,
    until: now + limits.keySet.validFor,
  }
  const keySet = signStatement(crypto, 'key-set', { aid, seq: now, at: now, keys: [encryptionKey] }, [signingKey])
  let known = true
  const sign = (t: Signed['t'], value: unknown): Signed => signStatement(crypto, t, value, [signingKey])
  const identity: Omit<Identity, 'signCard' | 'withdrawCard'> = {
    aid,
    ksn: 0,
    history,
    head: statementId(crypto, statement),
    sign,
    signRaw: (data) => crypto.ed25519Sign(privateKey, data),
    publicKey: crypto.ed25519PublicKey(privateKey),
    signingKey,
    keySet: () => keySet,
    encryptionPrivateKey: (asked) => (known && asked === kid ? secretRaw : undefined),
    rotateEncryptionKeys: async () => false,
  }
  return {
    identity: identity as Identity,
    signingKey,
    encryptionKey,
    forgetEncryptionKey: () => {
      known = false
    },
  }
}
