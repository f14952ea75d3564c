import { AnetError } from '@shared/errors.ts'
import type { PassphraseSource } from '../node/secrets/index.ts'
import { usageError } from './exit.ts'
import { askSecret, isTerminal } from './terminal.ts'

export interface PassphraseOptions {
  readonly passphraseFile?: string
  readonly passphraseFd?: string
}

/** Where the passphrase of an existing secret store comes from: a file, a file descriptor, or the person at the terminal. */
export async function passphraseSource(options: PassphraseOptions): Promise<PassphraseSource> {
  const given = await givenSource(options)
  if (given !== undefined) return given
  return async () => {
    if (!isTerminal()) throw passphraseNeeded()
    return askSecret('Passphrase of the secret store: ')
  }
}

/** The same for a new one, which a person types twice. */
export async function newPassphraseSource(options: PassphraseOptions): Promise<PassphraseSource> {
  const given = await givenSource(options)
  if (given !== undefined) return given
  return async () => {
    if (!isTerminal()) throw passphraseNeeded()
    const passphrase = await askSecret('New passphrase for the secret store: ')
    if ((await askSecret('Once more: ')) !== passphrase) throw usageError('The two passphrases differ.')
    return passphrase
  }
}

async function givenSource({ passphraseFile, passphraseFd }: PassphraseOptions): Promise<PassphraseSource | undefined> {
  if (passphraseFile === undefined && passphraseFd === undefined) return undefined
  // loaded only where it is needed: most commands never touch the secret store
  const { passphraseFromDescriptor, passphraseFromFile } = await import('../node/secrets/index.ts')
  if (passphraseFile !== undefined) return passphraseFromFile(passphraseFile)
  const descriptor = Number(passphraseFd)
  if (!Number.isInteger(descriptor) || descriptor < 0) throw usageError('--passphrase-fd needs a file descriptor.')
  return passphraseFromDescriptor(descriptor)
}

function passphraseNeeded(): AnetError {
  return new AnetError(
    'passphrase_needed',
    'The secret store is protected by a passphrase, and there is no terminal.',
    {
      remedy: 'Give it with --passphrase-file PATH (a file readable by you alone) or --passphrase-fd N.',
    },
  )
}
