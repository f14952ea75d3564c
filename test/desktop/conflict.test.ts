import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DesktopApp } from '../helpers/desktop-app.ts'
import { openScene, recordedAddress, type Scene } from '../helpers/desktop-scene.ts'

let scene: Scene
let desktop: DesktopApp
let address: string
let port: string
let holder: ChildProcess

const file = (): string => join(scene.dataDir, 'modules/a2a/a2a_port_conflict.txt')

beforeAll(async () => {
  scene = await openScene()
  address = await recordedAddress(scene.dataDir)
  port = address.slice(address.lastIndexOf(':') + 1)
  holder = await holdPort(Number(port))
  // in the tray: a window in front would show the conflict itself, and nothing would be notified
  desktop = await scene.launch({}, scene.dataDir, ['--hidden'])
})
afterAll(async () => {
  holder.kill()
  await scene.close()
})

test('a notification says so, and a click opens the window', async () => {
  const isVisible = (): Promise<boolean | undefined> =>
    desktop.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.isVisible())
  const note = await scene.bus.notification(({ title }) => title === 'Your tools cannot reach this node')
  expect(note.body).toContain(address)
  expect(await isVisible()).toBe(false)
  scene.bus.clickNotification(note)
  await expect.poll(isVisible).toBe(true)
})

test('every view says who holds the port and what to do', async () => {
  const { page } = desktop
  const banner = page.getByRole('alert', { name: 'Port conflict' })
  await banner.getByText(`Another program holds port ${port}. Your tools cannot reach this node.`).waitFor()
  for (const [key, view] of ['Overview', 'Agents', 'Tasks', 'Inbox', 'Settings'].entries()) {
    await page.keyboard.press(String(key + 1))
    await page.getByRole('heading', { name: view, level: 1 }).waitFor()
    expect(await banner.isVisible(), view).toBe(true)
  }
  await page.keyboard.press('1')
  await banner.locator('dd', { hasText: `process ${holder.pid}` }).waitFor()
  await banner.getByText(address).first().waitFor()
  expect(await banner.getByRole('listitem').count()).toBeGreaterThan(0)
  expect(readFileSync(file(), 'utf8')).toContain(address)
})

test('the address cannot be copied in the window', async () => {
  await desktop.page.getByText('Not listening', { exact: true }).waitFor()
  expect(await desktop.page.getByRole('button', { name: 'Copy A2A address' }).isDisabled()).toBe(true)
})

test('the tray says so, and its copy entries are off with the reason', async () => {
  const entries = await scene.bus.menu(await scene.bus.trayItem())
  expect(entries[0]?.label).toMatch(new RegExp(`^Port ${port} is held by `))
  expect(entries.find(({ label }) => label === 'Copy A2A address (port taken)')?.enabled).toBe(false)
  expect(entries.find(({ label }) => label === 'Copy agents URL (port taken)')?.enabled).toBe(false)
})

test('"Try again" while the port is still held changes nothing', async () => {
  const { page } = desktop
  const tryAgain = page.getByRole('button', { name: 'Try again' })
  await tryAgain.click()
  await expect.poll(() => tryAgain.isEnabled()).toBe(true)
  expect(await page.getByRole('alert', { name: 'Port conflict' }).isVisible()).toBe(true)
})

test('with the port free again "Try again" brings the endpoint up', async () => {
  const { page } = desktop
  const gone = once(holder, 'exit')
  holder.kill()
  await gone
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('alert', { name: 'Port conflict' }).waitFor({ state: 'detached' })
  const item = await scene.bus.trayItem()
  await expect.poll(async () => (await scene.bus.menu(item))[0]?.label).toBe('Up, joined to Test hub')
  expect((await scene.bus.menu(item)).find(({ label }) => label === 'Copy A2A address')?.enabled).toBe(true)
  expect(existsSync(file())).toBe(false)
  // the address is the one that was recorded: tools that have it go on working
  const { status } = await fetch(`http://${address}/a2a/v1/agents`)
  expect(status).toBe(401)
})

/** Another program, a process of its own, listens there. */
async function holdPort(number: number): Promise<ChildProcess> {
  const script = `require('node:http').createServer((q, s) => s.end('x')).listen(${number}, '127.0.0.1', () => console.log('up'))`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return child
}
