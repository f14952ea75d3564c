import { randomBytes } from 'node:crypto'
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { AnetError } from '@shared/errors.ts'
import type { Aid } from '@shared/wire/index.ts'
import { privateDirectory } from '../data-dir/index.ts'
import type { Log } from '../ports.ts'
import { alreadyInitialised, keyFileDamaged, notInitialised, secretStoreUnavailable } from './errors.ts'
import {
  createKeyFile,
  fingerprintOf,
  type KeyFile,
  keysDirectory,
  placeOf,
  readKeyFile,
  replaceKeyFile,
  sealKeys,
} from './key-file.ts'
import { Keychain, type KeychainOptions } from './keychain.ts'
import { phraseSlotKey } from './recovery-phrase.ts'
import { openBox, sealBox } from './sealed-box.ts'
import type { PassphraseSource, SecretStoreKind, Secrets } from './types.ts'
import { findWrappingKey, keepWrappingKey } from './wrapping-key.ts'

export interface OpenSecretsOptions {
  readonly dataDir: string
  /** For the store `passphrase`. */
  readonly passphrase?: PassphraseSource
  readonly keychain?: KeychainOptions
  readonly log?: Log
}

/**
 * Opens the key file with the store that was chosen at set-up. Errors: `not_initialised`, `secret_store_unavailable`,
 * `passphrase_needed`, `passphrase_wrong`, `key_file_damaged`. Never makes a key: what cannot be read may still exist.
 */
export async function openSecrets(options: OpenSecretsOptions): Promise<Secrets> {
  const file = await readKeyFile(options.dataDir)
  if (file === undefined) throw await keyFileMissing(options.dataDir)
  await privateDirectory(keysDirectory(options.dataDir))
  const access = {
    dataDir: options.dataDir,
    keychain: new Keychain(options.keychain),
    passphrase: options.passphrase,
  }
  const wrappingKey = await findWrappingKey(access, file.slot, file.aid, file.fingerprint)
  const secrets = new OpenSecrets(options.dataDir, file, wrappingKey)
  options.log?.info({ store: file.slot.kind, aid: file.aid }, 'secret store opened')
  return secrets
}

/**
 * Whose keys these are and where the wrapping key lives, without opening anything. Undefined before set-up. A directory
 * that was used but has no key file is `key_file_damaged`, like a key file that cannot be read.
 */
export async function describeSecrets(
  dataDir: string,
): Promise<{ readonly aid: Aid; readonly kind: SecretStoreKind } | undefined> {
  const file = await readKeyFile(dataDir)
  if (file !== undefined) return { aid: file.aid, kind: file.slot.kind }
  const missing = await keyFileMissing(dataDir)
  if (missing.code === 'not_initialised') return undefined
  throw missing
}

/** A database without keys is not a new directory: its keys are lost or were moved away. */
async function keyFileMissing(dataDir: string): Promise<AnetError> {
  const used = await lstat(join(dataDir, 'node.db')).then(
    () => true,
    () => false,
  )
  return used ? keyFileDamaged('it is missing, although this data directory has a database.') : notInitialised()
}

/**
 * Makes the secret store of a new identity: a new wrapping key, kept in the chosen store and, in a second slot, sealed
 * to the recovery phrase. The key file is written last and at once: before that there is no identity, after that there
 * is this one. Errors: `already_initialised`, `secret_store_unavailable`, `passphrase_needed`.
 */
export async function createSecrets(
  options: OpenSecretsOptions & {
    readonly kind: SecretStoreKind
    readonly aid: Aid
    readonly keys: Uint8Array
    /** Seed of the recovery phrase. */
    readonly seed: Uint8Array
    readonly fault?: (name: string) => void
  },
): Promise<Secrets> {
  const { dataDir, kind, aid, keys, seed } = options
  await privateDirectory(keysDirectory(dataDir))
  const wrappingKey = new Uint8Array(randomBytes(32))
  const access = { dataDir, keychain: new Keychain(options.keychain), passphrase: options.passphrase }
  const slot = await keepWrappingKey(access, kind, aid, wrappingKey)
  options.fault?.('setup.wrapping_key_kept')
  const file: KeyFile = {
    format: 'anet-keys/1',
    aid,
    fingerprint: fingerprintOf(wrappingKey),
    slot,
    phrase: sealBox(phraseSlotKey(seed), placeOf('phrase', aid), wrappingKey),
    keys: sealKeys(wrappingKey, aid, keys),
  }
  if (!(await createKeyFile(dataDir, file))) {
    throw alreadyInitialised((await readKeyFile(dataDir))?.aid ?? 'unknown')
  }
  options.fault?.('setup.identity_saved')
  return new OpenSecrets(dataDir, file, wrappingKey)
}

/** Fails if the keychain cannot keep and give back a value: asked before a recovery phrase is shown. */
export async function checkKeychain(options: KeychainOptions = {}): Promise<void> {
  const keychain = new Keychain(options)
  const probe = new Uint8Array(randomBytes(32))
  const account = `probe-${Buffer.from(probe).toString('hex', 0, 8)}`
  await keychain.set(account, probe)
  const back = await keychain.get(account)
  await keychain.delete(account)
  if (back === null || !Buffer.from(back).equals(probe)) {
    throw secretStoreUnavailable('the keychain does not give back what it was given.')
  }
}

class OpenSecrets implements Secrets {
  readonly wrappingKey: Uint8Array
  readonly #dataDir: string
  #file: KeyFile
  #keys: Uint8Array
  #writing: Promise<void> = Promise.resolve()

  constructor(dataDir: string, file: KeyFile, wrappingKey: Uint8Array) {
    const keys = openBox(wrappingKey, placeOf('keys', file.aid), file.keys)
    if (keys === undefined) throw keyFileDamaged('its seal does not open with the right key.')
    this.wrappingKey = wrappingKey
    this.#dataDir = dataDir
    this.#file = file
    this.#keys = keys
  }

  get aid(): Aid {
    return this.#file.aid
  }

  get kind(): SecretStoreKind {
    return this.#file.slot.kind
  }

  get warning(): string | undefined {
    if (this.kind !== 'file') return undefined
    return 'The keys of this node lie in plain files: whoever can read them can act as this agent.'
  }

  get keys(): Uint8Array {
    return this.#keys
  }

  replaceKeys(keys: Uint8Array): Promise<void> {
    const write = async (): Promise<void> => {
      const file = { ...this.#file, keys: sealKeys(this.wrappingKey, this.aid, keys) }
      await replaceKeyFile(this.#dataDir, file)
      this.#file = file
      this.#keys = keys
    }
    // one after the other, so that the newest is what stays
    const done = this.#writing.then(write)
    this.#writing = done.catch(() => {})
    return done
  }
}
