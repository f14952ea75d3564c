import { resolve } from 'node:path'
import { Option } from 'commander'
import { AnetError } from '@shared/errors.ts'
import type { SecretStoreKind } from '../../node/secrets/index.ts'
import { anetCommand, type CommonOptions, run } from '../command.ts'
import { usageError } from '../exit.ts'
import { fileStoreWarning } from '../node-text.ts'
import { newPassphraseSource, type PassphraseOptions } from '../passphrase.ts'
import { ask, isTerminal } from '../terminal.ts'
import { fields } from '../text.ts'

interface InitOptions extends CommonOptions, PassphraseOptions {
  readonly secretStore?: SecretStoreKind
  readonly recoveryFile?: string
}

const storeChoices: readonly (readonly [SecretStoreKind, string])[] = [
  ['keychain', "this user's keyring, unlocked with the desktop session"],
  ['passphrase', 'a passphrase that you type at each start'],
  ['file', 'an unprotected file: whoever can read your files can act as you'],
]

export const initCommand = anetCommand(
  'init',
  'create the identity of this node',
  'anet init\nanet init --secret-store passphrase --passphrase-file ~/.anet-pass --recovery-file ~/anet-recovery.txt',
)
  .addOption(new Option('--secret-store <kind>', 'where the key is kept').choices(storeChoices.map(([kind]) => kind)))
  .option('--passphrase-file <path>', 'file with the new passphrase, readable by you alone')
  .option('--passphrase-fd <n>', 'file descriptor to read the new passphrase from')
  .option('--recovery-file <path>', 'write the recovery phrase to this new file instead of showing it')
  .action(
    run(async ({ dataDir, show, json }, _: [], options: InitOptions) => {
      if (!isTerminal()) requireChoices(options)
      const secretStore = options.secretStore ?? (await askSecretStore())
      const passphrase = secretStore === 'passphrase' ? await newPassphraseSource(options) : undefined
      const { beginSetup } = await import('../../node/setup.ts')
      const setup = await beginSetup({ dataDir, secretStore, ...(passphrase === undefined ? {} : { passphrase }) })
      const words = setup.phrase.split(' ')
      const recoveryFile = options.recoveryFile === undefined ? undefined : resolve(options.recoveryFile)
      if (recoveryFile === undefined) await showAndConfirm(setup.phrase, setup.ask)
      else await writeRecoveryFile(recoveryFile, setup.phrase)
      // the words are checked again below: what was asked on the terminal, or what went into the file
      const { aid } = await setup.finish(setup.ask.map((position) => words[position - 1] ?? ''))
      const next = 'Next: anet up, then anet join URL'
      show(
        { aid, dataDir, secretStore, recoveryFile: recoveryFile ?? null },
        [
          fields([
            ['AID', aid],
            ['Data', dataDir],
            ['Secret store', secretStore],
            ...(recoveryFile === undefined ? [] : [['Recovery phrase', recoveryFile] as const]),
          ]),
          ...(recoveryFile === undefined ? [] : ['Keep the recovery file away from this computer.']),
          ...(secretStore === 'file' ? [fileStoreWarning] : []),
          next,
        ].join('\n\n'),
      )
      if (json && secretStore === 'file') process.stderr.write(`${fileStoreWarning}\n`)
    }),
  )

/** Nobody can be asked and nobody can be shown a phrase: both have to be said beforehand. */
function requireChoices({ secretStore, recoveryFile }: InitOptions): void {
  if (secretStore === undefined) {
    throw new AnetError('secret_store_not_chosen', 'There is no terminal to ask where the key shall be kept.', {
      remedy: [
        'Choose one of the three:',
        ...storeChoices.map(
          ([kind, meaning]) =>
            `  anet init --secret-store ${kind}${kind === 'passphrase' ? ' --passphrase-file PATH' : ''}   (${meaning})`,
        ),
        'and name a new file for the recovery phrase with --recovery-file PATH.',
      ].join('\n'),
    })
  }
  if (recoveryFile === undefined) {
    throw new AnetError('recovery_file_needed', 'There is no terminal to show the recovery phrase on.', {
      remedy: 'Name a new file for it with --recovery-file PATH.',
    })
  }
}

async function askSecretStore(): Promise<SecretStoreKind> {
  process.stderr.write('Where shall the key of this node be kept?\n')
  for (const [index, [kind, meaning]] of storeChoices.entries()) {
    process.stderr.write(`  ${index + 1}  ${kind}: ${meaning}\n`)
  }
  for (;;) {
    const answer = await ask('1, 2 or 3: ')
    const chosen = storeChoices[Number(answer) - 1] ?? storeChoices.find(([kind]) => kind === answer)
    if (chosen !== undefined) return chosen[0]
  }
}

async function showAndConfirm(phrase: string, positions: readonly number[]): Promise<void> {
  const words = phrase.split(' ')
  process.stderr.write('\nYour recovery phrase. Write it down; it is shown only now and is stored nowhere.\n\n')
  for (let row = 0; row < words.length; row += 4) {
    const line = words
      .slice(row, row + 4)
      .map((word, column) => `${String(row + column + 1).padStart(3)} ${word.padEnd(10)}`)
    process.stderr.write(`${line.join('').trimEnd()}\n`)
  }
  process.stderr.write('\n')
  await ask('Press Enter when you have written it down. ')
  // the phrase leaves the screen and its scroll-back before the words are asked
  process.stderr.write('\u001b[2J\u001b[3J\u001b[H')
  for (const position of positions) {
    for (let tries = 1; (await ask(`Word ${position}: `)) !== words[position - 1]; tries += 1) {
      if (tries === 3) throw usageError('The words do not match. Nothing was created.', 'Run "anet init" again.')
      process.stderr.write('That is another word.\n')
    }
  }
}

async function writeRecoveryFile(path: string, phrase: string): Promise<void> {
  const { createPrivateFile } = await import('../../node/data-dir/index.ts')
  if (await createPrivateFile(path, `${phrase}\n`)) return
  throw new AnetError('file_exists', `${path} exists already. Nothing was created.`, {
    remedy: 'Name a new file with --recovery-file.',
  })
}
