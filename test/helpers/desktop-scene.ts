import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { type RunningHub, startHub } from '../../src-hub/index.ts'
import { updateConfig } from '../../src-main/node/config/index.ts'
import { startNode } from '../../src-main/node/node.ts'
import { type DesktopApp, startDesktop } from './desktop-app.ts'
import { setUpNode } from './nodes.ts'
import { SessionBus } from './session-bus.ts'

export interface SceneOptions {
  /** Whether the session has a tray; without one no icon can be shown. */
  readonly tray?: boolean
  /** Whether the data directory has an identity; without one the window begins with the first run. */
  readonly initialised?: boolean
}

/** What the desktop tests stand on: a session bus, a hub in this process, and a data directory that knows the hub. */
export interface Scene {
  readonly bus: SessionBus
  readonly hub: RunningHub
  readonly dataDir: string
  /** A folder that goes with the scene. */
  readonly folder: string
  readonly aid: string
  /** Starts the desktop on the data directory, or on another one. */
  launch(env?: Record<string, string>, dataDir?: string, flags?: readonly string[]): Promise<DesktopApp>
  close(): Promise<void>
}

export async function openScene({ tray = true, initialised = true }: SceneOptions = {}): Promise<Scene> {
  const folder = await mkdtemp(join(tmpdir(), 'anet-scene-'))
  const bus = await SessionBus.open({ tray })
  const hub = await startHub({ dataDir: join(folder, 'hub'), port: 0, policy: 'open', name: 'Test hub' })
  const dataDir = join(folder, 'node')
  const started: DesktopApp[] = []
  let aid = ''
  if (initialised) {
    aid = await setUpNode(dataDir)
    await updateConfig(dataDir, (config) => ({ ...config, hub: { url: hub.url, aid: hub.aid } }))
  }
  return {
    bus,
    hub,
    dataDir,
    folder,
    aid,
    launch: async (env = {}, other = dataDir, flags = []) => {
      const app = await startDesktop(other, env, flags)
      started.push(app)
      return app
    },
    close: async () => {
      for (const app of started) await app.quit()
      bus.close()
      await hub.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Runs the node once, so that the port of its endpoint is chosen and recorded. Returns that address. */
export async function recordedAddress(dataDir: string): Promise<string> {
  const node = await startNode({ dataDir, kind: 'headless', log: pino({ enabled: false }) })
  const { address } = await node.door.client.endpoint.status({})
  await node.stop()
  if (address === null) throw new Error('The endpoint has no address.')
  return address
}
