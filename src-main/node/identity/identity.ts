import {
  type Aid,
  type Cid,
  type KeyHistory,
  keySetSchema,
  limits,
  readStatement,
  type Signed,
  type SigningKey,
  signStatement,
  type StatementType,
  type VerifiedHistory,
  verifyHistory,
  type WireCrypto,
} from '@shared/wire/index.ts'
import type { Clock, Log } from '../ports.ts'
import type { Secrets } from '../secrets/index.ts'
import type { Store, Tx } from '../store/index.ts'
import { renewEncryptionKeys, signKeySet } from './encryption-keys.ts'
import { decodeKeyMaterial, encodeKeyMaterial, type KeyMaterial } from './key-material.ts'
import type { Identity } from './types.ts'

export interface IdentityOptions {
  readonly secrets: Secrets
  readonly store: Pick<Store, 'read'>
  readonly crypto: WireCrypto
  readonly clock: Clock
  readonly log: Log
}

/**
 * Opens this node's identity from the key file and brings its encryption keys up to date. Errors: `key_file_damaged`
 * (nothing is signed then), and those of writing the key file.
 */
export async function openIdentity(options: IdentityOptions): Promise<Identity> {
  const material = decodeKeyMaterial(options.crypto, options.secrets.keys, options.secrets.aid)
  const identity = new OwnIdentity(options, material)
  await identity.rotateEncryptionKeys(options.clock.now())
  return identity
}

class OwnIdentity implements Identity {
  readonly #options: IdentityOptions
  #material: KeyMaterial
  #history: VerifiedHistory
  #signingKey: SigningKey
  #rotating: Promise<unknown> = Promise.resolve()

  constructor(options: IdentityOptions, material: KeyMaterial) {
    this.#options = options
    this.#material = material
    this.#history = verifyHistory(options.crypto, material.history, material.aid)
    this.#signingKey = { aid: material.aid, ksn: material.signing.ksn, privateKey: material.signing.seed }
  }

  get aid(): Aid {
    return this.#material.aid
  }

  get ksn(): number {
    return this.#signingKey.ksn
  }

  get history(): KeyHistory {
    return this.#material.history
  }

  get head(): Cid {
    return this.#history.head
  }

  get signingKey(): SigningKey {
    return this.#signingKey
  }

  get publicKey(): Uint8Array {
    return this.#options.crypto.ed25519PublicKey(this.#signingKey.privateKey)
  }

  sign(t: StatementType, value: unknown): Signed {
    return signStatement(this.#options.crypto, t, value, [this.#signingKey])
  }

  signRaw(data: Uint8Array): Uint8Array {
    return this.#options.crypto.ed25519Sign(this.#signingKey.privateKey, data)
  }

  keySet(): Signed {
    return this.#material.keySet
  }

  encryptionPrivateKey(kid: string): Uint8Array | undefined {
    const now = this.#options.clock.now()
    return this.#material.encryption.find((key) => key.kid === kid && now < key.until + limits.keySet.keepPrivateFor)
      ?.privateKey
  }

  rotateEncryptionKeys(now: number): Promise<boolean> {
    const rotate = async (): Promise<boolean> => {
      const encryption = renewEncryptionKeys(this.#options.crypto, this.#material.encryption, now)
      if (encryption === undefined) return false
      const { crypto, secrets, log } = this.#options
      const { seq } = readStatement(this.#material.keySet, keySetSchema, limits.keySet.bytes)
      const keySet = signKeySet(crypto, this.#signingKey, encryption, seq, now)
      const material = { ...this.#material, encryption, keySet }
      // durable before anybody can seal to it
      await secrets.replaceKeys(encodeKeyMaterial(material))
      this.#material = material
      log.info({ kid: encryption[0]?.kid, kept: encryption.length }, 'encryption keys renewed')
      return true
    }
    const done = this.#rotating.then(rotate)
    this.#rotating = done.catch(() => {})
    return done
  }

  signCard(tx: Tx, cardJson: Uint8Array, now: number): Signed {
    return this.#signInSeries(tx, 'card', now, (seq) => ({
      aid: this.aid,
      seq,
      issuedAt: now,
      exp: now + limits.card.validFor,
      card: cardJson,
    }))
  }

  withdrawCard(tx: Tx, now: number): Signed {
    return this.#signInSeries(tx, 'card-withdrawal', now, (seq) => ({ aid: this.aid, seq, at: now }))
  }

  #signInSeries(tx: Tx, t: 'card' | 'card-withdrawal', now: number, value: (seq: number) => unknown): Signed {
    const last = tx.get<{ seq: number }>("SELECT seq FROM own_series WHERE name = 'card'")
    const seq = Math.max((last?.seq ?? -1) + 1, now)
    tx.run(
      "INSERT INTO own_series (name, seq) VALUES ('card', ?) ON CONFLICT (name) DO UPDATE SET seq = excluded.seq",
      seq,
    )
    return this.sign(t, value(seq))
  }
}
