import { writeFile } from 'node:fs/promises'
import { AnetError } from '@shared/errors.ts'
import { type DesktopHandlers, secretStoreKinds, type ShellView } from '@shared/contract/index.ts'
import { systemClock } from '../node/ports.ts'
import { checkKeychain } from '../node/secrets/index.ts'
import { beginSetup, type Setup } from '../node/setup.ts'
import type { Dialogs } from './dialogs.ts'
import { startUtilityChild } from './utility-process.ts'

export interface SetupHandlerOptions {
  readonly dataDir: string
  readonly dialogs: Dialogs
  /** The identity exists now: start the node with it. */
  readonly onInitialised: (passphrase: string | undefined) => Promise<void>
  readonly shell: () => ShellView
  readonly startDemo: () => Promise<void>
  readonly removeDemo: () => Promise<void>
}

const keychain = { startChild: startUtilityChild }

const details = {
  keychain: 'Opens when you log in. Nothing to type. The keychain was found and tested.',
  passphrase: 'You type it at each start. ANet cannot start without it.',
  file: 'Any program that runs as you can read it. ANet keeps warning about it.',
}

/** The first run. The phrase stays in this process and in the window, and nowhere else. */
export function setupHandlers(options: SetupHandlerOptions): DesktopHandlers['setup'] {
  let begun: { setup: Setup; passphrase: string | undefined } | undefined

  return {
    secretStores: async () => {
      const stores = secretStoreKinds.map(async (kind) => {
        const problem = kind === 'keychain' ? await keychainProblem() : undefined
        return { kind, available: problem === undefined, detail: problem ?? details[kind] }
      })
      return { stores: await Promise.all(stores) }
    },
    begin: async ({ secretStore, passphrase }) => {
      const setup = await beginSetup({
        dataDir: options.dataDir,
        secretStore,
        clock: systemClock,
        keychain,
        ...(passphrase === undefined ? {} : { passphrase: () => Promise.resolve(passphrase) }),
      })
      begun = { setup, passphrase }
      return { phrase: setup.phrase.split(' '), ask: [...setup.ask] }
    },
    saveSheet: async () => {
      const { setup } = current(begun)
      const path = await options.dialogs.save('ANet recovery sheet.txt')
      if (path === undefined) return { path: null }
      await writeFile(path, recoverySheet(setup.phrase, options.dataDir), { mode: 0o600 })
      return { path }
    },
    confirm: async ({ words }) => {
      const { setup, passphrase } = current(begun)
      await setup.finish(words)
      begun = undefined
      await options.onInitialised(passphrase)
      return options.shell()
    },
    startDemo: async () => {
      await options.startDemo()
      return options.shell()
    },
    removeDemo: async () => {
      await options.removeDemo()
      return options.shell()
    },
  }
}

function current<T>(begun: T | undefined): T {
  if (begun !== undefined) return begun
  throw new AnetError('setup_not_begun', 'There is no recovery phrase to confirm.', {
    remedy: 'Begin the set-up again.',
  })
}

async function keychainProblem(): Promise<string | undefined> {
  try {
    await checkKeychain(keychain)
    return undefined
  } catch (error) {
    return error instanceof AnetError ? error.message : 'The keychain did not answer.'
  }
}

function recoverySheet(phrase: string, dataDir: string): string {
  const words = phrase.split(' ').map((word, index) => `${String(index + 1).padStart(2)}. ${word}`)
  return [
    'ANet recovery sheet',
    '',
    'These 24 words bring your agent back after a lost computer or a stolen key.',
    'Whoever has them can act as you. Keep them on paper, then delete this file.',
    '',
    ...words,
    '',
    `Data folder: ${dataDir}`,
    '',
  ].join('\n')
}
