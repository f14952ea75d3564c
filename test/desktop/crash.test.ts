import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DesktopApp } from '../helpers/desktop-app.ts'
import { openScene, type Scene } from '../helpers/desktop-scene.ts'

const run = promisify(execFile)
let scene: Scene
let desktop: DesktopApp

beforeAll(async () => {
  scene = await openScene()
  desktop = await scene.launch()
})
afterAll(() => scene.close())

test('a window that crashes comes back with everything, three times', async () => {
  await shown('The node is up and joined to Test hub.')
  for (let crash = 1; crash <= 3; crash += 1) {
    await crashPage()
    await shown('The node is up and joined to Test hub.')
  }
})

test('the fourth time a page explains it instead, and the node runs on', async () => {
  await crashPage()
  await shown('The window stopped working')
  const details = await inPage<string>("document.querySelector('pre').textContent")
  expect(details).toMatch(/^ANet 0\.1\.0, Electron 33/)
  expect(details.match(/crashed, exit code|killed, exit code/g)).toHaveLength(4)
  // nothing of the operator
  for (const own of [scene.dataDir, scene.aid, process.env['HOME'] ?? '/root']) expect(details).not.toContain(own)
  const item = await scene.bus.trayItem()
  expect((await scene.bus.menu(item))[0]?.label).toBe('Up, joined to Test hub')
})

test('its details can be copied, and the window opened again', async () => {
  await press('Copy details')
  await expect.poll(() => inPage<string>("document.querySelector('[role=status]').textContent")).toBe('Copied.')
  const { stdout } = await run('xclip', ['-o', '-selection', 'clipboard'])
  expect(stdout).toMatch(/^ANet 0\.1\.0, Electron 33/)
  await press('Open the window again')
  await shown('The node is up and joined to Test hub.')
})

// a page that crashed is lost to Playwright, so this looks at it from the main process
function inPage<T>(script: string): Promise<T> {
  return desktop.app.evaluate(
    ({ BrowserWindow }, code) => BrowserWindow.getAllWindows()[0]?.webContents.executeJavaScript(code) as Promise<T>,
    script,
  )
}

async function shown(heading: string): Promise<void> {
  const headings = "[...document.querySelectorAll('h1, h2')].map((heading) => heading.textContent)"
  await expect.poll(() => inPage<string[]>(headings).catch(() => []), { timeout: 20_000 }).toContain(heading)
}

async function press(label: string): Promise<void> {
  await inPage(`[...document.querySelectorAll('button')].find((button) => button.textContent === '${label}').click()`)
}

async function crashPage(): Promise<void> {
  await desktop.app.evaluate(
    ({ BrowserWindow }) =>
      new Promise<void>((resolve) => {
        const contents = BrowserWindow.getAllWindows()[0]?.webContents
        contents?.once('render-process-gone', () => resolve())
        contents?.forcefullyCrashRenderer()
      }),
  )
}
