import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { listPackage } from '@electron/asar'
import { FuseV1Options, getCurrentFuseWire } from '@electron/fuses'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { descendants } from '../helpers/demo.ts'
import { launchFlags, setUp, startDemoFromWindow } from '../helpers/desktop-app.ts'
import { openScene, recordedAddress, type Scene } from '../helpers/desktop-scene.ts'
import { startPrivateBus } from '../helpers/private-bus.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')
const folder = join(root, 'dist/linux-unpacked')
const executable = join(folder, 'anet-desktop')
const command = join(folder, 'anet')

let scene: Scene
const running: ChildProcess[] = []

beforeAll(async () => {
  scene = await openScene()
  await run(process.execPath, [join(root, 'build/package.mjs')], { cwd: root })
})
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL')
  await scene.close()
})

test('the fuses are set', async () => {
  const wire = await getCurrentFuseWire(executable)
  const states = Object.fromEntries(
    Object.entries(FuseV1Options)
      .filter((entry): entry is [string, FuseV1Options] => typeof entry[1] === 'number')
      // the wire holds the characters "0" and "1"
      .map(([name, index]) => [name, String.fromCharCode(wire[index] ?? 0) === '1']),
  )
  expect(states).toEqual({
    RunAsNode: false,
    EnableCookieEncryption: true,
    EnableNodeOptionsEnvironmentVariable: false,
    EnableNodeCliInspectArguments: false,
    EnableEmbeddedAsarIntegrityValidation: true,
    OnlyLoadAppFromAsar: true,
    LoadBrowserProcessSpecificV8Snapshot: false,
    GrantFileProtocolExtraPrivileges: false,
  })
})

test('it holds the product, native modules for this platform, and nothing else', () => {
  const files = listPackage(join(folder, 'resources/app.asar'), { isPack: false })
  for (const file of [
    '/out/main/index.js',
    '/out/cli/index.js',
    '/out/preload/preload.cjs',
    '/out/renderer/index.html',
  ])
    expect(files).toContain(file)
  expect(files.filter((file) => /\.(map|ts|cc|md)$/.test(file) && !file.endsWith('LICENSE.md'))).toEqual([])
  expect(files.filter((file) => file.startsWith('/src') || file.startsWith('/test'))).toEqual([])
  const native = files.filter((file) => file.endsWith('.node'))
  expect(native.length).toBeGreaterThanOrEqual(3)
  for (const file of native) expect(existsSync(join(folder, 'resources/app.asar.unpacked', file)), file).toBe(true)
  expect(files.filter((file) => /darwin|win32|arm64/.test(file))).toEqual([])
  expect(readdirSync(join(folder, 'resources'))).not.toContain('default_app.asar')
})

test('the anet command works without a display and a session bus', async () => {
  const { stdout } = await anet(['--version'])
  expect(stdout.trim()).toBe('0.1.0')
  const failed = await anet(['status', '--data', join(scene.folder, 'nobody')]).catch((error: unknown) => error)
  expect(failed).toMatchObject({ code: 3 })
  expect((failed as { stderr: string }).stderr).toMatch(/^No ANet node runs on /)
})

test('the anet command sets up, starts and stops a node', async () => {
  const dataDir = join(scene.folder, 'by command')
  await anet(['init', '--secret-store', 'file', '--recovery-file', join(scene.folder, 'phrase'), '--data', dataDir])
  const up = JSON.parse((await anet(['up', '--data', dataDir, '--json'])).stdout) as { kind: string }
  expect(up.kind).toBe('headless')
  await anet(['stop', '--data', dataDir])
  await expect(anet(['status', '--data', dataDir])).rejects.toMatchObject({ code: 3 })
})

test('the key can be kept in the keychain: its helper process starts inside the package', async () => {
  const bus = await startPrivateBus('unlocked')
  const dataDir = join(scene.folder, 'keychain')
  try {
    const given = ['--recovery-file', join(scene.folder, 'phrase of the keychain'), '--data', dataDir]
    await anet(['init', '--secret-store', 'keychain', ...given], bus.env)
    const up = JSON.parse((await anet(['up', '--data', dataDir, '--json'], bus.env)).stdout) as { secretStore: string }
    expect(up.secretStore).toBe('keychain')
    await anet(['stop', '--data', dataDir], bus.env)
  } finally {
    await bus.stop()
  }
})

test('the window starts on a data directory, and quits from the tray with everything', async () => {
  const { bus, dataDir } = scene
  const address = await recordedAddress(dataDir)
  const app = start(dataDir)
  const item = await bus.trayItem()
  await expect.poll(async () => (await bus.menu(item))[0]?.label, { timeout: 15_000 }).toBe('Up, joined to Test hub')
  expect((await fetch(`http://${address}/a2a/v1/agents`)).status).toBe(401)
  const status = JSON.parse((await anet(['status', '--data', dataDir, '--json'])).stdout) as object
  expect(status).toMatchObject({ kind: 'desktop', pid: app.pid })
  await quitFromTray(app)
  await expect(fetch(`http://${address}/a2a/v1/agents`)).rejects.toThrow()
})

test('the demo network runs inside the package', async () => {
  const { bus, folder: scratch } = scene
  const dataDir = join(scratch, 'with demo')
  // its first run is walked through in the unpackaged application, which a test can attach to
  const { page, quit } = await scene.launch({}, dataDir)
  await setUp(page)
  await startDemoFromWindow(page)
  await quit()
  bus.trayItems.length = 0
  const app = start(dataDir)
  const item = await bus.trayItem()
  await expect.poll(async () => (await bus.menu(item))[0]?.label, { timeout: 30_000 }).toBe('Up, joined to Demo hub')
  await quitFromTray(app)
})

test('it does not start with a debugging port', async () => {
  const app = start(join(scene.folder, 'debugged'), ['--remote-debugging-port=0'])
  let said = ''
  app.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const [code] = await once(app, 'exit')
  expect(code).toBe(64)
  expect(said).toContain('ANet does not start with --remote-debugging-port')
})

function start(dataDir: string, flags: readonly string[] = []): ChildProcess {
  const child = spawn(executable, [...launchFlags, ...flags], {
    env: { ...process.env, ANET_DATA_DIR: dataDir },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  child.stderr.resume()
  running.push(child)
  return child
}

async function quitFromTray(app: ChildProcess): Promise<void> {
  const { bus } = scene
  const children = descendants(app.pid ?? 0)
  const ended = once(app, 'exit')
  await bus.clickMenu(await bus.trayItem(), 'Quit ANet').catch(() => {})
  expect(await ended).toEqual([0, null])
  await expect.poll(() => children.filter((pid) => existsSync(`/proc/${pid}`)), { timeout: 10_000 }).toEqual([])
}

function anet(
  parameters: readonly string[],
  more: Record<string, string> = {},
): Promise<{ stdout: string; stderr: string }> {
  const { DISPLAY: _display, DBUS_SESSION_BUS_ADDRESS: _bus, ...env } = process.env
  return run(command, [...parameters], { env: { ...env, ...more } })
}
