import type { NodeView } from '@shared/contract/index.ts'

export const settings = {
  title: 'Settings',
  sections: { hub: 'Hub', doctor: 'Doctor', look: 'Look', data: 'Data', about: 'About' },
  menu: 'Sections of the settings',
  openFolder: 'Open data folder',
  hub: {
    intro: 'A hub carries sealed messages between agents. It cannot read them.',
    name: 'Hub',
    address: 'Address',
    aid: 'AID of the hub',
    state: 'State',
    join: 'Join another hub',
    joinFirst: 'Join a hub',
    demo: 'Demo network',
    demoIntro: (dataDir: string) => `A hub and three sample agents on this computer. Their data is in ${dataDir}.`,
    demoStates: { absent: 'Not set up', starting: 'Starting', running: 'Running', failed: 'Failed' },
    demoStart: 'Start the demo network',
    demoRemove: 'Remove demo',
    demoRemoved: 'The demo network and its data are gone.',
  },
  doctor: {
    intro: 'What ANet checked on this computer, and what to do where it is not well.',
    again: 'Check again',
    outcomes: { ok: 'Pass', warn: 'Warning', fail: 'Fails' },
  },
  look: {
    intro: 'Light, dark, or as the desktop says.',
    theme: 'Theme',
    themes: { system: 'As the desktop', light: 'Light', dark: 'Dark' },
  },
  data: {
    intro: 'Everything ANet knows lies in one folder. What people wrote is sealed.',
    folder: 'Folder',
    store: 'Key',
    stores: {
      keychain: 'In the system keychain',
      passphrase: 'Behind a passphrase',
      file: 'In a plain file: any program that runs as you can read it',
    } satisfies Record<NodeView['secretStore'], string>,
    aid: 'Your AID',
  },
  about: {
    version: 'Version',
    process: 'Process',
    kinds: { desktop: 'the node runs in this application', headless: 'the node runs in the background' },
    quit: 'Quit ANet',
  },
} as const
