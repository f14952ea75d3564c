import { randomInt } from 'node:crypto'
import { AnetError } from '@shared/errors.ts'
import type { Aid } from '@shared/wire/index.ts'
import { crypto } from './crypto.ts'
import { privateDirectory } from './data-dir/index.ts'
import { type Fault, faultFromEnvironment } from './fault.ts'
import { createKeyMaterial } from './identity/index.ts'
import { type Clock, systemClock } from './ports.ts'
import {
  alreadyInitialised,
  checkKeychain,
  checkNewPassphrase,
  createSecrets,
  describeSecrets,
  type KeychainOptions,
  newRecoveryPhrase,
  type PassphraseSource,
  recoverySeed,
  type SecretStoreKind,
} from './secrets/index.ts'

export interface SetupOptions {
  readonly dataDir: string
  readonly secretStore: SecretStoreKind
  /** Gives the new passphrase; asked once, for the store `passphrase` only. */
  readonly passphrase?: PassphraseSource
  readonly clock?: Clock
  readonly keychain?: KeychainOptions
  /** Called at each durable step: `setup.wrapping_key_kept`, `setup.identity_saved`. */
  readonly fault?: Fault
}

export interface Setup {
  /** 24 words, to be written down by a person or saved to a new file at its order. Nothing keeps it. */
  readonly phrase: string
  /** Three positions in the phrase, from 1, ascending: which words {@link finish} wants. */
  readonly ask: readonly number[]
  /**
   * Confirms the phrase and makes the identity, durably. A wrong word is `recovery_phrase_not_confirmed`, and it may be
   * called again. Other errors: `already_initialised`, `secret_store_unavailable`.
   */
  finish(words: readonly string[]): Promise<{ readonly aid: Aid }>
}

const asked = 3

/**
 * Begins the set-up of a data directory: checks that the secret store can be used and makes a recovery phrase. Until
 * {@link Setup.finish} nothing is on the disk; the identity exists from the moment its key file does, so a set-up that
 * was broken off is simply begun again. Errors: `already_initialised`, `key_file_damaged` (a directory that was used
 * gets no second identity), `secret_store_unavailable`, `passphrase_needed`, `passphrase_too_short`.
 */
export async function beginSetup(options: SetupOptions): Promise<Setup> {
  const { dataDir, secretStore, clock = systemClock, keychain, fault = faultFromEnvironment() } = options
  const existing = await describeSecrets(dataDir)
  if (existing !== undefined) throw alreadyInitialised(existing.aid)
  const passphrase = secretStore === 'passphrase' ? await newPassphrase(options.passphrase) : undefined
  if (secretStore === 'keychain') await checkKeychain(keychain)

  const phrase = newRecoveryPhrase()
  const words = phrase.split(' ')
  const ask = positions(words.length)
  return {
    phrase,
    ask,
    finish: async (given) => {
      confirm(words, ask, given)
      await privateDirectory(dataDir)
      // the directory may have been set up from elsewhere while the phrase was written down
      const other = await describeSecrets(dataDir)
      if (other !== undefined) throw alreadyInitialised(other.aid)
      const seed = await recoverySeed(phrase)
      const { aid, keys } = createKeyMaterial(crypto, seed, clock.now())
      await createSecrets({
        dataDir,
        kind: secretStore,
        aid,
        keys,
        seed,
        ...(passphrase === undefined ? {} : { passphrase: () => Promise.resolve(passphrase) }),
        ...(keychain === undefined ? {} : { keychain }),
        fault,
      })
      return { aid }
    },
  }
}

async function newPassphrase(source: PassphraseSource | undefined): Promise<string> {
  if (source === undefined) {
    throw new AnetError('passphrase_needed', 'The secret store "passphrase" needs a passphrase.', {
      remedy: 'Give it in a terminal, with "--passphrase-fd N" or with "--passphrase-file PATH" (mode 0600).',
    })
  }
  const passphrase = await source()
  checkNewPassphrase(passphrase)
  return passphrase
}

function positions(words: number): number[] {
  const chosen = new Set<number>()
  while (chosen.size < asked) chosen.add(randomInt(1, words + 1))
  return [...chosen].toSorted((a, b) => a - b)
}

function confirm(words: readonly string[], ask: readonly number[], given: readonly string[]): void {
  const wrong = ask.find((position, at) => given[at]?.trim().toLowerCase() !== words[position - 1])
  if (wrong === undefined && given.length === ask.length) return
  const which = wrong === undefined ? `Exactly ${ask.length} words were asked for.` : `Word ${wrong} is another one.`
  throw new AnetError('recovery_phrase_not_confirmed', `The recovery phrase is not confirmed. ${which}`, {
    remedy: 'Look at what you wrote down and try again. Nothing was set up yet.',
  })
}
