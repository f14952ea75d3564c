import { join } from 'node:path'
import { AnetError } from '@shared/errors.ts'
import { type Aid, equalBytes } from '@shared/wire/index.ts'
import { createPrivateFile, readPrivateFile } from '../data-dir/index.ts'
import { keyFileDamaged, passphraseWrong, secretStoreUnavailable } from './errors.ts'
import { fingerprintOf, keysDirectory, placeOf, type Slot } from './key-file.ts'
import type { Keychain } from './keychain.ts'
import { openWithPassphrase, sealWithPassphrase } from './passphrase.ts'
import type { PassphraseSource, SecretStoreKind } from './types.ts'

export interface StoreAccess {
  readonly dataDir: string
  readonly keychain: Keychain
  readonly passphrase: PassphraseSource | undefined
}

/**
 * Puts a new wrapping key into the chosen store and reads it back, before anything is sealed under it. Names carry the
 * key's fingerprint: an attempt that was broken off leaves a key that opens nothing and stands in nobody's way.
 */
export async function keepWrappingKey(
  access: StoreAccess,
  kind: SecretStoreKind,
  aid: Aid,
  wrappingKey: Uint8Array,
): Promise<Slot> {
  const slot = await put(access, kind, aid, wrappingKey)
  const back = await findWrappingKey(access, slot, aid, fingerprintOf(wrappingKey))
  if (!equalBytes(back, wrappingKey)) throw secretStoreUnavailable('it gave back another key than it was given.')
  return slot
}

async function put(access: StoreAccess, kind: SecretStoreKind, aid: Aid, wrappingKey: Uint8Array): Promise<Slot> {
  const name = `wrapping-${fingerprintOf(wrappingKey).slice(0, 16)}`
  switch (kind) {
    case 'keychain':
      await access.keychain.set(name, wrappingKey)
      return { kind, account: name }
    case 'passphrase':
      return await sealWithPassphrase(await ask(access), placeOf('slot', aid), wrappingKey)
    case 'file':
      await createPrivateFile(join(keysDirectory(access.dataDir), `${name}.key`), wrappingKey)
      return { kind, name: `${name}.key` }
  }
}

/**
 * The wrapping key with this fingerprint. Errors: `secret_store_unavailable`, `passphrase_needed`, `passphrase_wrong`,
 * `key_file_damaged`. A store that has nothing is as unavailable as one that does not answer.
 */
export async function findWrappingKey(
  access: StoreAccess,
  slot: Slot,
  aid: Aid,
  fingerprint: string,
): Promise<Uint8Array> {
  const key = await find(access, slot, aid)
  if (key.byteLength !== 32 || fingerprintOf(key) !== fingerprint) {
    throw secretStoreUnavailable('it holds another key than the one these keys were sealed with.')
  }
  return key
}

async function find(access: StoreAccess, slot: Slot, aid: Aid): Promise<Uint8Array> {
  switch (slot.kind) {
    case 'keychain': {
      const key = await access.keychain.get(slot.account)
      if (key === null)
        throw secretStoreUnavailable('the keychain does not show the key. It may be locked, or another one.')
      return key
    }
    case 'passphrase': {
      const key = await openWithPassphrase(await ask(access), placeOf('slot', aid), slot)
      if (key === undefined) throw passphraseWrong()
      return key
    }
    case 'file': {
      const path = join(keysDirectory(access.dataDir), slot.name)
      const key = await readPrivateFile(path, { maxBytes: 32 })
      if (key === undefined) throw keyFileDamaged(`the wrapping key ${path} is missing.`)
      return new Uint8Array(key)
    }
  }
}

async function ask(access: StoreAccess): Promise<string> {
  if (access.passphrase === undefined) {
    throw new AnetError('passphrase_needed', 'The keys of this node are behind a passphrase.', {
      remedy: 'Start it in a terminal, or with "--passphrase-fd N" or "--passphrase-file PATH" (mode 0600).',
    })
  }
  return await access.passphrase()
}
