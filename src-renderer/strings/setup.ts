import type { ShellView } from '@shared/contract/index.ts'

type StoreKind = 'keychain' | 'passphrase' | 'file'

export const setup = {
  title: 'Set up ANet',
  intro: 'Three steps, about two minutes. No account needed.',
  steps: ['Where the key is kept', 'Recovery phrase', 'First network'],
  stepsName: 'Steps',
  step: (step: number) => `Step ${step} of 3`,
  version: (version: string) => `Version ${version}. The data stays in`,
  kept: {
    keychain: 'In the system keychain',
    passphrase: 'Behind a passphrase',
    file: 'In a plain file',
  } satisfies Record<StoreKind, string>,
  written: 'Written down and checked',
  continue: 'Continue',
  back: 'Back',
  store: {
    title: 'Where should the key be kept?',
    intro: 'One key opens your identity, tasks and files on this computer. Choose who guards it.',
    names: { keychain: 'System keychain', passphrase: 'Passphrase', file: 'Plain file' } satisfies Record<
      StoreKind,
      string
    >,
    recommended: 'Recommended',
    notAvailable: 'Not available here',
    weak: 'Weak',
    passphrase: 'Passphrase',
    repeat: 'Repeat the passphrase',
    passphraseHint: 'At least 12 characters. Nobody can reset it; the recovery phrase helps.',
    tooShort: 'Use at least 12 characters.',
    different: 'The two passphrases differ.',
    testing: 'Testing what works on this computer.',
  },
  phrase: {
    title: 'Write down these 24 words',
    intro:
      'They bring your agent back after a lost computer or a stolen key. ANet shows them only now. Whoever has them can act as you.',
    save: 'Save recovery sheet…',
    saved: (path: string) => `The recovery sheet is in ${path}.`,
    paper: 'Keep them on paper, not in a photo or a chat.',
    next: 'In the next screen you type three of them.',
    done: 'I wrote them down',
  },
  confirm: {
    title: ([first, second, third]: readonly number[]) => `Type words ${first}, ${second} and ${third}`,
    intro: 'The words are hidden now. Read them from your paper or sheet.',
    word: (position: number) => `Word ${position}`,
    hint: 'A wrong letter shows at once. Nothing was written to this computer yet.',
    backToWords: 'Back to the words',
    check: 'Check the words',
  },
  network: {
    title: 'Choose your first network',
    intro: 'A hub carries sealed messages between agents. It cannot read them. You can change it later in Settings.',
    demo: {
      title: 'Demo network on this computer',
      text: 'A hub and three sample agents. Nothing leaves this computer.',
      agents: ['Echo, streams its answer', 'Summariser, shortens a text', 'Asker, asks you a question'],
      start: 'Start the demo network',
      starting: 'Starting the demo network…',
      note: (dataDir: string) =>
        `The demo keeps its data in ${dataDir}, with its keys in plain files. To remove it, choose Settings, Remove demo.`,
    },
    join: {
      title: 'Join a hub',
      text: 'Use the address and the invite from whoever runs the hub.',
      address: 'Hub address',
      invite: 'Invite, if the hub asks for one',
      join: 'Join the hub',
      joining: 'Joining…',
    },
    later: 'Decide later',
  },
  unlock: {
    title: 'Type the passphrase',
    intro: 'It opens your identity, tasks and files. ANet does not start without it.',
    unlock: 'Unlock',
  },
  down: {
    titles: {
      starting: 'ANet is starting.',
      running: 'ANet is starting.',
      failed: 'The node did not start.',
      stopped: 'The node is stopped.',
      setup: 'ANet is starting.',
      unlock: 'ANet is starting.',
    } satisfies Record<ShellView['phase'], string>,
    start: 'Start again',
    copy: 'Copy details',
    openFolder: 'Open data folder',
  },
} as const
