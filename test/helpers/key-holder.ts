import * as nodeCrypto from 'node:crypto'
import {
  type Aid,
  createInception,
  type EncryptionKey,
  type KeyHistory,
  type KeyStatement,
  limits,
  sealingSuite,
  type Signed,
  type SigningKey,
  signStatement,
  statementId,
  type WireCrypto,
  wireCrypto,
} from '@shared/wire/index.ts'

export const crypto = wireCrypto(nodeCrypto)
export const day = 24 * 60 * 60_000
/** 2025-12-01T00:00:00Z */
export const start = 1_764_547_200_000

/** Bytes that are the same in each run: SHA-256 of the label. */
export function fixedBytes(label: string): Uint8Array {
  return crypto.sha256(new TextEncoder().encode(label))
}

/** The same cryptography with "random" bytes that are the same in each run. */
export function fixedCrypto(label: string): WireCrypto {
  let count = 0
  return { ...crypto, randomBytes: (length) => fixedBytes(`${label} ${(count += 1)}`).slice(0, length) }
}

/** X25519 from fixed private bytes. */
export function encryptionPair(label: string, from = start): { key: EncryptionKey; privateKey: Uint8Array } {
  const privateKey = fixedBytes(`${label} x25519`)
  const der = Buffer.concat([Buffer.from('302e020100300506032b656e04220420', 'hex'), privateKey])
  const publicKey = nodeCrypto.createPublicKey(nodeCrypto.createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }))
  const key = new Uint8Array(Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url'))
  return {
    privateKey,
    key: {
      kid: Buffer.from(crypto.sha256(key)).toString('hex', 0, 8),
      suite: sealingSuite,
      key,
      from,
      until: from + limits.keySet.validFor,
    },
  }
}

/** One agent's signing keys, all of them, so that a test can write any history: right ones and wrong ones. */
export class KeyHolder {
  readonly label: string
  readonly aid: Aid
  history: KeyHistory

  constructor(label: string) {
    this.label = label
    const { aid, statement } = createInception(crypto, {
      privateKey: this.seed(0),
      nextCommitment: this.commitment(1),
      at: start,
    })
    this.aid = aid
    this.history = [statement]
  }

  seed(n: number): Uint8Array {
    return fixedBytes(`${this.label} key ${n}`)
  }

  key(n: number): SigningKey {
    return { aid: this.aid, ksn: n, privateKey: this.seed(n) }
  }

  commitment(n: number): Uint8Array {
    return crypto.sha256(crypto.ed25519PublicKey(this.seed(n)))
  }

  get ksn(): number {
    return this.history.length - 1
  }

  get head(): string {
    const last = this.history.at(-1)
    if (last === undefined) throw new Error('no history')
    return statementId(crypto, last)
  }

  /** The next rotation; `change` makes it wrong. Not appended. */
  rotation(
    change: Partial<KeyStatement> & { readonly emergency?: boolean } = {},
    keys?: readonly SigningKey[],
  ): Signed {
    const seq = this.ksn + 1
    const value = {
      type: 'rotation',
      aid: this.aid,
      seq,
      prev: this.head,
      key: crypto.ed25519PublicKey(this.seed(seq)),
      next: this.commitment(seq + 1),
      at: start + seq * day,
      ...change,
    }
    const planned = value.type === 'rotation' && change.emergency !== true
    return signStatement(
      crypto,
      'key-history',
      value,
      keys ?? (planned ? [this.key(seq), this.key(seq - 1)] : [this.key(seq)]),
    )
  }

  deactivation(): Signed {
    return this.rotation({ type: 'deactivation', next: null })
  }

  append(statement: Signed): this {
    this.history = [...this.history, statement]
    return this
  }

  keySet(seq: number, keys: readonly EncryptionKey[] = [encryptionPair(this.label).key], signer = this.ksn): Signed {
    return signStatement(crypto, 'key-set', { aid: this.aid, seq, at: start, keys }, [this.key(signer)])
  }

  card(seq: number, change: Readonly<Record<string, unknown>> = {}, json: unknown = cardOf(this.label)): Signed {
    const bytes = new TextEncoder().encode(typeof json === 'string' ? json : JSON.stringify(json))
    const value = { aid: this.aid, seq, issuedAt: start, exp: start + 30 * day, card: bytes, ...change }
    return signStatement(crypto, 'card', value, [this.key(this.ksn)])
  }

  withdrawal(seq: number): Signed {
    return signStatement(crypto, 'card-withdrawal', { aid: this.aid, seq, at: start }, [this.key(this.ksn)])
  }
}

export function cardOf(name: string): Readonly<Record<string, unknown>> {
  return {
    name,
    description: '',
    supportedInterfaces: [],
    version: '1',
    capabilities: {},
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  }
}

/** The error code that `work` ends with, or undefined. Errors that are no AnetError come through. */
export function codeOf(work: () => unknown): string | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.name === 'AnetError') return String(error.code)
    throw error
  }
}
