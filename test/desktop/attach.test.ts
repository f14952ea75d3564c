import { afterAll, beforeAll, expect, test } from 'vitest'
import { anet, anetJson, startAnet } from '../helpers/anet-command.ts'
import { openScene, type Scene } from '../helpers/desktop-scene.ts'
import { startTestNode } from '../helpers/nodes.ts'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene.close())

test('a window looks at the headless node that runs already, and leaves it running', async () => {
  const { dataDir } = scene
  const headless = startAnet(['up', '--foreground'], { dataDir })
  await headless.printed(/^Inbox/m)
  const { page, quit } = await scene.launch()
  await page.getByRole('heading', { name: 'The node is up and joined to Test hub.' }).waitFor()
  await page.getByText('looking at the node that runs in the background').waitFor()

  // what is done elsewhere is seen here
  const anna = await startTestNode({ name: 'Anna', hub: scene.hub, policy: 'open' })
  const arrives = anna.event((next) => (next.type === 'inbox' && next.open > 0 ? true : undefined))
  await anet(['send', anna.aid, 'Sent from a terminal.', '--no-wait'], { dataDir })
  await page.keyboard.press('3')
  await page.getByText('Sent from a terminal.').first().click()
  const detail = page.getByRole('region', { name: 'Task' })
  await detail.getByText('Sent', { exact: true }).first().waitFor()
  await arrives
  const { items } = await anna.client.inbox.list({})
  await anna.client.inbox.answer({ id: items[0]?.id ?? -1, kind: 'complete', text: 'Seen in the window.' })
  await detail.getByText('Completed').first().waitFor()
  await detail.getByRole('blockquote').getByText('Seen in the window.').waitFor()

  const { pid } = await anetJson<{ pid: number }>(['status'], { dataDir })
  expect(pid).toBe(headless.process.pid)
  await quit()
  expect((await anet(['status'], { dataDir })).code).toBe(0)
  headless.process.kill('SIGINT')
  expect(await headless.ended).toBe(0)
})

test('the window follows a headless node that stops', async () => {
  const { dataDir } = scene
  const headless = startAnet(['up', '--foreground'], { dataDir })
  await headless.printed(/^Inbox/m)
  const { page, quit } = await scene.launch()
  await page.getByText('looking at the node that runs in the background').waitFor()
  expect((await anet(['stop'], { dataDir })).code).toBe(0)
  await page.getByRole('heading', { name: 'The node is stopped.' }).waitFor()
  await page.getByRole('button', { name: 'Start again' }).click()
  await page.getByRole('heading', { name: 'The node is up and joined to Test hub.' }).waitFor()
  expect(await page.getByText('looking at the node that runs in the background').count()).toBe(0)
  await quit()
})

test('"anet up" while the desktop runs says so and exits 0; "anet stop" stops its node, not the window', async () => {
  const { dataDir } = scene
  const { app, page, quit } = await scene.launch()
  await page.getByRole('heading', { name: 'The node is up and joined to Test hub.' }).waitFor()
  const up = await anet(['up'], { dataDir })
  expect(up.code).toBe(0)
  expect(up.stdout).toContain('The node runs already.')
  const status = await anetJson<{ kind: string; pid: number }>(['status'], { dataDir })
  expect(status).toMatchObject({ kind: 'desktop', pid: app.process().pid })

  const stop = await anet(['stop'], { dataDir })
  expect(stop.stderr).toBe('')
  expect(stop.code).toBe(0)
  await page.getByRole('heading', { name: 'The node is stopped.' }).waitFor()
  const entries = await scene.bus.menu(await scene.bus.trayItem())
  expect(entries[0]?.label).toBe('The node is stopped')
  await page.getByRole('button', { name: 'Start again' }).click()
  await page.getByRole('heading', { name: 'The node is up and joined to Test hub.' }).waitFor()
  await quit()
})
