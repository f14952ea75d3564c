import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type DesktopApp,
  electron,
  launchFlags,
  setUp,
  startDemoFromWindow,
  startDesktop,
} from '../helpers/desktop-app.ts'
import { SessionBus } from '../helpers/session-bus.ts'

const run = promisify(execFile)
const dataDir = mkdtempSync(join(tmpdir(), 'anet-desktop-'))
let bus: SessionBus
let desktop: DesktopApp

beforeAll(async () => {
  bus = await SessionBus.open()
  desktop = await startDesktop(dataDir)
})
afterAll(async () => {
  await desktop.quit()
  bus.close()
  rmSync(dataDir, { recursive: true, force: true })
})

test('the first run leads to a demo network', async () => {
  const { page } = desktop
  await page.getByRole('heading', { name: 'Where should the key be kept?' }).waitFor()
  await setUp(page)
  await startDemoFromWindow(page)
  await page.getByRole('heading', { name: 'The node is up and joined to Demo hub.' }).waitFor()
})

test('a task that is sent from the window comes back with its reply and a file', async () => {
  const { page } = desktop
  await page.keyboard.press('2')
  await page.getByRole('row', { name: /^Echo/ }).click()
  await page.getByRole('button', { name: 'Send a task…' }).click()
  await page.getByLabel('What should it do?').fill('A sentence that the echo returns.')
  await page.getByRole('button', { name: 'Send task' }).click()
  const detail = page.getByRole('region', { name: 'Task' })
  await detail.getByText('Completed').first().waitFor()
  await detail.getByRole('blockquote').getByText('A sentence that the echo returns.').waitFor()
  await detail.getByText('echo.txt').waitFor()
})

test('the file of a reply is saved where the dialog says', async () => {
  const { app, page } = desktop
  const path = join(dataDir, 'saved by the test.txt')
  await app.evaluate(({ dialog }, filePath) => {
    dialog.showSaveDialog = () => Promise.resolve({ canceled: false, filePath })
  }, path)
  await page.getByRole('button', { name: 'Save…' }).click()
  await page.getByText('Saved saved by the test.txt.').waitFor()
  expect(readFileSync(path, 'utf8')).toBe('A sentence that the echo returns.')
})

test('the finished task is notified while the window is not in front, and a click opens it', async () => {
  const { app, page } = desktop
  await app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.hide())
  const { agent } = await page.evaluate(async () => {
    const answer = (await window.anet.node['agents']?.['list']?.({ limit: 50 })) as {
      value: { agents: { aid: string; name: string }[] }
    }
    const echo = answer.value.agents.find(({ name }) => name === 'Echo')
    await window.anet.node['tasks']?.['send']?.({ agent: echo?.aid, text: 'Tell me when you are done.' })
    return { agent: echo?.aid }
  })
  expect(agent).toMatch(/^bafyrei/)
  const note = await bus.notification(
    ({ title, body }) => title === 'Echo: completed' && body === 'Tell me when you are done.',
  )
  bus.clickNotification(note)
  await page.getByRole('heading', { name: 'Tell me when you are done.' }).waitFor()
  await expect.poll(() => app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.isVisible())).toBe(true)
})

test('the tray shows the state and copies an address that works', async () => {
  const item = await bus.trayItem()
  await expect.poll(async () => (await bus.menu(item))[0]?.label).toBe('Up, joined to Demo hub')
  await bus.clickMenu(item, 'Copy A2A address')
  await bus.notification(({ title }) => title === 'A2A address copied')
  const { stdout: url } = await run('xclip', ['-o', '-selection', 'clipboard'])
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/a2a\/v1\/agents$/)
  const token = readFileSync(join(dataDir, 'modules/a2a/a2a_token.txt'), 'utf8').trim()
  const { agents } = JSON.parse(
    execFileSync('curl', ['-s', '-K', '-', url], { input: `header = "Authorization: Bearer ${token}"` }).toString(),
  ) as { agents: { name: string }[] }
  expect(agents.map(({ name }) => name).toSorted()).toEqual(['Asker', 'Echo', 'Summariser'])
})

test('a second launch shows the window of the first and ends', async () => {
  const { app } = desktop
  await app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.hide())
  const { executable } = await electron
  const second = spawn(executable, [...launchFlags, resolve(import.meta.dirname, '../..')], {
    env: { ...process.env, ANET_DATA_DIR: dataDir },
    stdio: 'ignore',
  })
  const [code] = await once(second, 'exit')
  expect(code).toBe(0)
  await expect.poll(() => app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.isVisible())).toBe(true)
})

test('quitting from the tray leaves no process and no listener', async () => {
  const { app } = desktop
  const pids = await app.evaluate(({ app: electronApp }) => electronApp.getAppMetrics().map(({ pid }) => pid))
  const address = readFileSync(join(dataDir, 'modules/a2a/a2a_addr.txt'), 'utf8').trim()
  const ended = once(app.process(), 'exit')
  await bus.clickMenu(await bus.trayItem(), 'Quit ANet').catch(() => {})
  await ended
  await expect.poll(() => pids.filter(isAlive)).toEqual([])
  await expect(fetch(`http://${address}/a2a/v1/agents`)).rejects.toThrow()
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
