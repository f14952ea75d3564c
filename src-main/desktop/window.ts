import { fileURLToPath } from 'node:url'
import { app, BrowserWindow, nativeTheme, screen } from 'electron'
import { crashReport, CrashTally } from './crash-report.ts'
import { crashUrl, startUrl, trustedOrigin } from './protocol.ts'
import { type Bounds, clampBounds, minimumSize } from './window-bounds.ts'

export interface WindowOptions {
  readonly bounds: () => Bounds | undefined
  /** False: the window waits behind the tray icon until it is asked for. */
  readonly showAtStart: boolean
  readonly keepBounds: (bounds: Bounds) => void
  /** True: closing hides (there is a tray). False: closing minimises, so that the window can be found again. */
  readonly mayHide: () => boolean
  /** The window was hidden or minimised instead of closed. */
  readonly onHidden: () => void
  readonly onCrash: (crash: { reason: string; exitCode: number; next: 'reload' | 'explain' | 'stay' }) => void
}

export interface AppWindow {
  readonly window: BrowserWindow
  show(): void
  /** From now on closing closes. */
  release(): void
}

/** The one window: sandboxed, isolated, without navigation, pop-ups or web views. */
export function createWindow(options: WindowOptions): AppWindow {
  const areas = [screen.getPrimaryDisplay(), ...screen.getAllDisplays()].map((display) => display.workArea)
  const { maximized, ...bounds } = clampBounds(options.bounds(), areas)
  const window = new BrowserWindow({
    ...bounds,
    minWidth: minimumSize.width,
    minHeight: minimumSize.height,
    show: false,
    title: 'ANet',
    autoHideMenuBar: true,
    backgroundColor: nativeTheme.shouldUseDarkColors ? '#181a1f' : '#ffffff',
    webPreferences: {
      preload: fileURLToPath(new URL('../preload/preload.cjs', import.meta.url)),
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      webviewTag: false,
      spellcheck: false,
      devTools: !app.isPackaged,
    },
  })
  if (maximized) window.maximize()
  if (options.showAtStart) window.once('ready-to-show', () => window.show())
  guardContents(window)
  keepInTouch(window, options)
  const release = hideInsteadOfClosing(window, options)
  void window.loadURL(startUrl)
  return {
    window,
    release,
    show: () => {
      if (window.webContents.isCrashed()) void window.loadURL(startUrl)
      if (window.isMinimized()) window.restore()
      window.show()
      window.focus()
    },
  }
}

function guardContents(window: BrowserWindow): void {
  const { webContents } = window
  webContents.setWindowOpenHandler(() => ({ action: 'deny' }))
  const stayHere = (event: Electron.Event, url: string): void => {
    // not by its origin, which Node does not know of app: URLs
    if (!url.startsWith(`${trustedOrigin}/`)) event.preventDefault()
  }
  webContents.on('will-navigate', stayHere)
  webContents.on('will-redirect', stayHere)
  webContents.on('will-attach-webview', (event) => event.preventDefault())
}

function keepInTouch(window: BrowserWindow, options: WindowOptions): void {
  const keep = (): void => {
    if (!window.isDestroyed() && !window.isMinimized())
      options.keepBounds({ ...window.getNormalBounds(), maximized: window.isMaximized() })
  }
  window.on('resized', keep)
  window.on('moved', keep)
  window.on('hide', keep)
  window.on('close', keep)

  const tally = new CrashTally()
  window.webContents.on('render-process-gone', (_event, { reason, exitCode }) => {
    if (reason === 'clean-exit' || window.isDestroyed()) return
    const next = tally.add({ at: Date.now(), reason, exitCode })
    options.onCrash({ reason, exitCode, next })
    if (next === 'reload') void window.loadURL(startUrl)
    if (next === 'explain') void window.loadURL(crashUrl(crashReport(tally.crashes)))
  })
}

function hideInsteadOfClosing(window: BrowserWindow, options: WindowOptions): () => void {
  let released = false
  window.on('close', (event) => {
    if (released) return
    event.preventDefault()
    if (options.mayHide()) window.hide()
    else window.minimize()
    options.onHidden()
  })
  return () => {
    released = true
  }
}
