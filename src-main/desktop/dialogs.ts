import { basename } from 'node:path'
import { type BrowserWindow, dialog } from 'electron'

export interface Dialogs {
  /** Absolute paths; empty if the dialog was closed. */
  open(): Promise<string[]>
  /** Undefined if the dialog was closed. */
  save(suggestedName: string): Promise<string | undefined>
  confirmQuit(inFlight: readonly string[]): Promise<boolean>
}

/** The platform's own dialogs, over the window. */
export function createDialogs(window: () => BrowserWindow): Dialogs {
  return {
    open: async () => {
      const { filePaths } = await dialog.showOpenDialog(window(), { properties: ['openFile', 'multiSelections'] })
      return filePaths
    },
    save: async (suggestedName) => {
      // the name comes from a remote agent: the last component only, without what a file system minds
      const defaultPath = basename(suggestedName.replaceAll(/[\p{Cc}\p{Cf}/\\:*?"<>|]/gu, '_')) || 'file'
      const { canceled, filePath } = await dialog.showSaveDialog(window(), { defaultPath })
      return canceled || filePath === '' ? undefined : filePath
    },
    confirmQuit: async (inFlight) => {
      const { response } = await dialog.showMessageBox(window(), {
        type: 'warning',
        title: 'Quit ANet',
        message: 'Work is in flight.',
        detail: inFlight.join('\n'),
        buttons: ['Keep running', 'Quit ANet'],
        defaultId: 0,
        cancelId: 0,
      })
      return response === 1
    },
  }
}
