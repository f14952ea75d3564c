import { afterEach, expect, test } from 'vitest'
import type { DesktopApp } from '../helpers/desktop-app.ts'
import { openScene, type Scene } from '../helpers/desktop-scene.ts'

let scene: Scene
afterEach(() => scene.close())

test('without a tray, closing minimises the window: it could not be found again otherwise', async () => {
  scene = await openScene({ tray: false })
  const desktop = await scene.launch()
  await desktop.page.getByRole('heading', { name: 'The node is up and joined to Test hub.' }).waitFor()
  const calls = await closeWindow(desktop)
  expect(calls).toEqual(['minimize'])
  expect(await desktop.page.evaluate(() => window.anet.node['node']?.['status']?.({}))).toMatchObject({ ok: true })
})

test('with a tray, closing hides the window, which is told once, and the tray brings it back', async () => {
  scene = await openScene()
  const desktop = await scene.launch()
  await desktop.page.getByRole('heading', { name: 'The node is up and joined to Test hub.' }).waitFor()
  expect(await closeWindow(desktop)).toEqual(['hide'])
  await scene.bus.notification(({ title }) => title === 'ANet keeps running')
  expect(await isVisible(desktop)).toBe(false)
  await scene.bus.clickMenu(await scene.bus.trayItem(), 'Open ANet')
  await expect.poll(() => isVisible(desktop)).toBe(true)
  await closeWindow(desktop)
  await expect.poll(() => isVisible(desktop)).toBe(false)
  expect(scene.bus.notifications.filter(({ title }) => title === 'ANet keeps running')).toHaveLength(1)
})

/** Closes the window as its frame does. What happened to it instead: without a window manager nothing else shows it. */
function closeWindow({ app }: DesktopApp): Promise<string[]> {
  return app.evaluate(({ BrowserWindow }) => {
    const [window] = BrowserWindow.getAllWindows()
    const calls: string[] = []
    if (window === undefined) return calls
    for (const name of ['hide', 'minimize'] as const) {
      const original = window[name].bind(window)
      window[name] = () => {
        calls.push(name)
        original()
      }
    }
    window.close()
    return calls
  })
}

function isVisible({ app }: DesktopApp): Promise<boolean | undefined> {
  return app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.isVisible())
}
