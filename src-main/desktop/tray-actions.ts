import { join } from 'node:path'
import { clipboard, shell } from 'electron'
import type { Destination } from '@shared/contract/index.ts'
import type { Notifier } from './notifications.ts'
import type { Session } from './session.ts'
import type { TrayAction } from './tray-model.ts'

export interface TrayActionOptions {
  readonly dataDir: string
  readonly session: Session
  readonly notifier: Notifier
  readonly go: (destination: Destination) => void
  readonly show: () => void
  readonly quit: () => void
}

/** What the entries of the tray do. Copying is confirmed by a notification: the menu is gone by then. */
export function trayActions(options: TrayActionOptions): (action: TrayAction) => void {
  const { dataDir, session, notifier, go } = options
  const copyAgentsUrl = async (what: string): Promise<void> => {
    const text = session.view?.endpoint.agentsUrl
    if (text == null) return
    // a promise from Electron 44 on
    await clipboard.writeText(text)
    notifier.show({ key: 'copied', title: `${what} copied`, body: text, destination: { view: 'overview' } })
  }
  const actions: Record<TrayAction, () => void> = {
    'copy-a2a-address': () => void copyAgentsUrl('A2A address'),
    'copy-agents-url': () => void copyAgentsUrl('Agents URL'),
    inbox: () => go({ view: 'inbox', id: null }),
    open: options.show,
    settings: () => go({ view: 'settings' }),
    'view-logs': () => void shell.openPath(join(dataDir, 'logs')),
    quit: options.quit,
  }
  return (action) => actions[action]()
}
