import { AnetError } from '@shared/errors.ts'

/** The three ways out when no secret store can be opened or none was chosen. */
const secretStoreRemedies = [
  'Three ways out:',
  '1. keychain: log in to a desktop session whose keyring is unlocked, and start again;',
  '2. passphrase: use "--secret-store passphrase" and give it in a terminal, by "--passphrase-fd N" or by "--passphrase-file PATH" (mode 0600);',
  '3. file: use "--secret-store file"; then whoever can read your files can act as this agent.',
  'An identity that exists keeps the store it was set up with.',
].join('\n')

export function secretStoreUnavailable(why: string, cause?: unknown): AnetError {
  return new AnetError('secret_store_unavailable', `The secret store cannot be opened: ${why}`, {
    remedy: secretStoreRemedies,
    cause,
  })
}

export function passphraseWrong(): AnetError {
  return new AnetError('passphrase_wrong', 'This passphrase does not open the keys.', {
    remedy: 'Try again. Keep the data directory and the recovery phrase: the key file can be opened with either.',
  })
}

/** Unreadable is never absent: no new identity is made, nothing is signed. */
export function keyFileDamaged(why: string, cause?: unknown): AnetError {
  return new AnetError(
    'key_file_damaged',
    `The key file cannot be used: ${why} Nothing is signed and nothing was changed.`,
    {
      remedy:
        'Put keys/keys.sealed back from a backup of the data directory. Keep the recovery phrase: the file has a second lock that it opens.',
      cause,
    },
  )
}

export function notInitialised(): AnetError {
  return new AnetError('not_initialised', 'This data directory has no identity yet.', { remedy: 'Run: anet init' })
}

export function alreadyInitialised(aid: string): AnetError {
  return new AnetError('already_initialised', `This data directory already has an identity: ${aid}.`, {
    remedy: 'Start it with "anet up", or choose another directory with ANET_DATA_DIR.',
    details: { aid },
  })
}
