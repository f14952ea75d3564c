import { clipboard, nativeTheme, shell } from 'electron'
import type { DesktopHandlers, NodeClient, ShellView } from '@shared/contract/index.ts'
import type { Dialogs } from './dialogs.ts'
import type { Session } from './session.ts'
import type { SettingsFile } from './settings.ts'

export interface ShellHandlerOptions {
  readonly dataDir: string
  readonly dialogs: Dialogs
  readonly session: Session
  readonly settings: SettingsFile
  readonly view: () => ShellView
  readonly onChange: () => void
  readonly quit: () => void
}

/** The window's requests to the desktop around it. */
export function shellHandlers(options: ShellHandlerOptions): Pick<DesktopHandlers, 'shell' | 'unlock'> {
  const { dataDir, dialogs, session, settings, view, onChange } = options
  const saved = new Set<string>()
  const node = (): NodeClient => session.door.client
  return {
    shell: {
      state: () => view(),
      setTheme: ({ theme }) => {
        settings.change({ theme })
        nativeTheme.themeSource = theme
        onChange()
        return view()
      },
      copyText: async ({ text }) => {
        // a promise from Electron 44 on
        await clipboard.writeText(text)
        return { copied: true as const }
      },
      chooseFiles: async () => ({ paths: await dialogs.open() }),
      saveFile: async ({ suggestedName, ...part }) => {
        const path = await dialogs.save(suggestedName)
        if (path === undefined) return { path: null, bytes: 0 }
        // the save dialog has asked before replacing a file
        const written = await node().tasks.saveFile({ ...part, path, overwrite: true })
        saved.add(written.path)
        return written
      },
      showSavedFile: ({ path }) => {
        if (saved.has(path)) shell.showItemInFolder(path)
        return { shown: saved.has(path) }
      },
      openDataFolder: async () => ({ opened: (await shell.openPath(dataDir)) === '' }),
      retryStart: async () => {
        await session.start()
        return view()
      },
      quit: () => {
        options.quit()
        return { quitting: true }
      },
    },
    unlock: {
      passphrase: async ({ passphrase }) => {
        await session.start(passphrase)
        return view()
      },
    },
  }
}
