import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { app, nativeTheme, session as electronSession } from 'electron'
import type { Destination, NodeEvent, ShellEvent, ShellView } from '@shared/contract/index.ts'
import { dataDirectory, privateDirectory } from '../node/data-dir/index.ts'
import { createLog } from '../node/log.ts'
import { describeSecrets } from '../node/secrets/index.ts'
import { version } from '../node/version.ts'
import { DemoControl } from './demo-control.ts'
import { createDialogs } from './dialogs.ts'
import { registerIpc } from './ipc.ts'
import { createNotifier } from './notifications.ts'
import { openNode } from './open-node.ts'
import { createQuit } from './quitting.ts'
import { lockDownSession, registerScheme, servePage } from './protocol.ts'
import { Session } from './session.ts'
import { openSettings } from './settings.ts'
import { setupHandlers } from './setup-handlers.ts'
import { shellDirectory } from './shell-directory.ts'
import { shellHandlers } from './shell-handlers.ts'
import { hasTrayHost } from './tray-host.ts'
import { trayActions } from './tray-actions.ts'
import { trayModel } from './tray-model.ts'
import { createTray, type TrayController } from './tray.ts'
import { type AppWindow, createWindow } from './window.ts'

/**
 * Composes the desktop: one instance for a data directory, the node, the window, the tray. Must be called before the app
 * is ready; returns before it is.
 */
export async function startApplication(): Promise<void> {
  // the first is refused once the app is ready, the second before; root has no sandbox, in development and tests
  registerScheme()
  if (process.getuid?.() !== 0) app.enableSandbox()
  const dataDir = dataDirectory()
  const own = await shellDirectory(dataDir)
  app.setPath('userData', own)
  if (!app.requestSingleInstanceLock()) {
    app.quit()
    return
  }
  // not awaited at the top: "ready" comes only after the entry module has run
  void app.whenReady().then(() => runApplication(dataDir, own))
}

async function runApplication(dataDir: string, own: string): Promise<void> {
  const log = createLog({ dataDir })
  const settings = openSettings(own)
  nativeTheme.themeSource = settings.current.theme
  const trayHost = await hasTrayHost()
  let appWindow: AppWindow | undefined
  let tray: TrayController | undefined
  let revision = 0

  const onUnexpected = (error: unknown): void => log.error({ err: error }, 'the desktop met an unexpected error')
  const shellState = (): ShellView => ({
    phase: session.phase,
    error: session.error ?? null,
    version,
    dataDir,
    attached: session.attached,
    theme: settings.current.theme,
    demo: demo.view,
  })
  const shellEvent = (): ShellEvent => ({ type: 'shell', revision, value: shellState() })
  const changed = (): void => {
    revision += 1
    ipc.send(shellEvent())
    tray?.update(trayModel(shellState(), session.view))
  }
  const onNodeEvent = (event: NodeEvent): void => {
    ipc.send(event)
    notifier.handle(event)
    if (event.type === 'node') tray?.update(trayModel(shellState(), event.value))
  }
  const go = (destination: Destination): void => {
    appWindow?.show()
    ipc.send({ type: 'go', destination })
  }
  const session: Session = new Session({
    isInitialised: async () => {
      await privateDirectory(dataDir)
      return (await describeSecrets(dataDir)) !== undefined
    },
    open: (passphrase) => openNode(dataDir, passphrase),
    onPhase: () => changed(),
    onNodeEvent,
    onUnexpected,
  })
  const demo: DemoControl = new DemoControl({
    dir: join(dataDir, 'demo'),
    node: () => session.door.client,
    onChange: () => changed(),
    onDeath: (name, again) => log.warn({ name, again }, 'a process of the demo ended'),
  })
  const dialogs = createDialogs(() => {
    if (appWindow === undefined) throw new Error('There is no window.')
    return appWindow.window
  })
  const notifier = createNotifier({ watching: () => appWindow?.window.isFocused() ?? false, open: go })
  const startNode = async (passphrase?: string): Promise<void> => {
    await session.start(passphrase)
    const view = session.view
    if (view !== undefined && !session.attached) await demo.resume(view).catch(onUnexpected)
  }
  const ipc = registerIpc({
    contents: () => appWindow?.window.webContents,
    node: () => session.door.client,
    desktop: {
      ...shellHandlers({
        dataDir,
        dialogs,
        session,
        settings,
        view: shellState,
        onChange: changed,
        quit: () => void quit(),
      }),
      setup: setupHandlers({
        dataDir,
        dialogs,
        shell: shellState,
        onInitialised: startNode,
        startDemo: () => demo.start(session.view?.aid ?? ''),
        removeDemo: () => demo.remove(),
      }),
    },
    snapshot: () => [shellEvent(), ...session.snapshot()],
    onUnexpected,
  })

  const quit = createQuit({
    session,
    confirm: (inFlight) => {
      appWindow?.show()
      return dialogs.confirmQuit(inFlight)
    },
    end: async () => {
      appWindow?.release()
      await demo.stop()
      await session.stop()
      tray?.destroy()
      app.exit(0)
    },
  })
  const act = trayActions({ dataDir, session, notifier, go, show: () => appWindow?.show(), quit: () => void quit() })

  servePage(electronSession.defaultSession, fileURLToPath(new URL('../renderer', import.meta.url)))
  lockDownSession(electronSession.defaultSession)
  appWindow = createWindow({
    // for a start at login; without a tray nobody could find the window
    showAtStart: !(trayHost && process.argv.includes('--hidden')),
    bounds: () => settings.current.bounds,
    keepBounds: (bounds) => settings.change({ bounds }),
    mayHide: () => trayHost,
    onHidden: () => {
      if (settings.current.toldAboutHiding) return
      settings.change({ toldAboutHiding: true })
      notifier.show({
        key: 'hidden',
        title: 'ANet keeps running',
        body: 'Your tools still reach it. Quit it from the tray or in Settings.',
        destination: { view: 'overview' },
      })
    },
    onCrash: (crash) => log.error(crash, 'the window crashed'),
  })
  tray = createTray(trayModel(shellState(), session.view), act)
  app.on('second-instance', () => appWindow?.show())
  app.on('activate', () => appWindow?.show())
  app.on('before-quit', (event) => {
    event.preventDefault()
    void quit()
  })
  await startNode()
}
