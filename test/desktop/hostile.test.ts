import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DesktopApp } from '../helpers/desktop-app.ts'
import { openScene, type Scene } from '../helpers/desktop-scene.ts'
import { startTestNode } from '../helpers/nodes.ts'

const markup = '<img src=x onerror="document.title=1"><b class="injected">bold</b><script>document.title=2</script>'
/** Shown, it would read "exe.photo" backwards: U+202E turns the direction of what follows. */
const turned = 'photo\u202Egpj.exe'
const controls = 'bell\u0007escape\u001B[31mnull\u0000end'
const hostileName = `Eve ${turned} <i>`
const long = `${markup}${turned}${'Lorem ipsum dolor sit amet. '.repeat(2100)}`
const large = `${markup}${'Lorem ipsum dolor sit amet. '.repeat(37_000)}`.slice(0, 990_000)

let scene: Scene
let desktop: DesktopApp

beforeAll(async () => {
  scene = await openScene()
  desktop = await scene.launch()
})
afterAll(() => scene.close())

test('names and texts of a hostile agent stay text, and the window stays quick', async () => {
  const { app, page } = desktop
  await page.getByRole('heading', { name: 'The node is up and joined to Test hub.' }).waitFor()
  const eve = await startTestNode({
    name: hostileName,
    hub: scene.hub,
    policy: 'open',
    config: {
      agent: { name: hostileName, description: `${markup} ${turned}` },
      skills: [{ id: 'x', name: `${markup}`, description: `${controls} ${turned}` }],
    },
  })

  // its card, in the table and in the detail
  await expect
    .poll(() =>
      call<{ agents: { aid: string }[] }>(page, 'agents', 'list', { refresh: true, limit: 50 }).then(
        ({ agents }) => agents.length,
      ),
    )
    .toBe(1)
  await page.keyboard.press('2')
  const row = page.getByRole('row', { name: /^Eve photo/ })
  await row.waitFor()
  expect(await row.innerText()).toContain('U+202E')
  await row.click()
  await page.getByRole('button', { name: 'Send a task…' }).waitFor()
  await page.getByText('<b class="injected">').first().waitFor()
  await inert(page)

  // its answer: markup, direction and control characters, a large text, a file with a misleading name
  const asked = eve.event((next) => (next.type === 'inbox' && next.open > 0 ? true : undefined))
  await call(page, 'tasks', 'send', { agent: eve.aid, text: 'What do you say?' })
  await asked
  await page.keyboard.press('3')
  await page.getByText('What do you say?').first().click()
  await hide(desktop)
  const file = join(scene.folder, `${turned}.txt`)
  writeFileSync(file, 'x')
  const { items } = await eve.client.inbox.list({})
  await eve.client.inbox.answer({ id: items[0]?.id ?? -1, kind: 'reply', text: long })
  const detail = page.getByRole('region', { name: 'Task' })
  const reply = detail.getByRole('blockquote')
  await reply.getByRole('button', { name: /^Show more/ }).waitFor()
  expect((await reply.innerText()).length).toBeLessThan(5000)
  await inert(page)
  await reply.getByRole('button', { name: /^Show more/ }).click()
  await expect.poll(async () => (await reply.innerText()).length).toBeGreaterThan(20_000)
  await inert(page)

  // a text of a megabyte is kept as a file, and the page goes on answering
  await eve.client.inbox.answer({ id: items[0]?.id ?? -1, kind: 'complete', text: large, files: [file] })
  await detail.getByText('Completed').first().waitFor()
  await detail.getByText('990 KB').waitFor()
  expect(await page.evaluate(() => document.body.innerText.length)).toBeLessThan(100_000)
  expect(await page.evaluate(answersWithin)).toBeLessThan(1000)
  await inert(page)

  // the name of its file: shown with its turning character, and offered without it
  expect(await detail.innerText()).toContain('photoU+202Egpj.exe.txt')
  const offered = app.evaluate(
    ({ dialog }) =>
      new Promise<string>((resolve) => {
        dialog.showSaveDialog = ((_window: unknown, options: { defaultPath: string }) => {
          resolve(options.defaultPath)
          return Promise.resolve({ canceled: true, filePath: '' })
        }) as unknown as typeof dialog.showSaveDialog
      }),
  )
  await detail.getByRole('button', { name: 'Save…' }).last().click()
  expect(await offered).toBe('photo_gpj.exe.txt')

  // its name in a notification: without markup, direction and control characters
  const note = await scene.bus.notification(({ title }) => title.endsWith('completed'))
  expect(note.title).toMatch(/^Eve photo gpj\.exe ‹i›/)
  expect(`${note.title}${note.body}`).not.toMatch(/[\p{Cc}\p{Cf}<>&]/u)

  // what it sends of itself waits in the inbox
  await call(page, 'agents', 'setRelation', { aid: eve.aid, relation: 'allow' })
  await eve.client.tasks.send({ agent: scene.aid, text: `${markup} ${controls} ${turned}` })
  await page.keyboard.press('4')
  await page.getByText('<b class="injected">').first().click()
  await page.getByLabel('Your reply').waitFor()
  for (const chip of ['U+202E', 'U+0007', 'U+001B', 'U+0000']) await page.getByText(chip).first().waitFor()
  await inert(page)
  // in the raw JSON too
  await page.getByText('Show the task').click()
  await page.getByRole('tab', { name: 'Raw JSON' }).click()
  await inert(page)
})

/** Nothing of the agent's markup became an element, and no direction character is among the shown text. */
async function inert(page: Page): Promise<void> {
  const found = await page.evaluate(() => ({
    title: document.title,
    elements: document.querySelectorAll('img, iframe, .injected, i, body script').length,
    turning: /[\u202A-\u202E\u2066-\u2069]/.test(document.body.innerText),
    controls: /[^\P{Cc}\t\n]/u.test(document.body.innerText),
  }))
  expect(found).toEqual({ title: 'ANet', elements: 0, turning: false, controls: false })
}

/** Milliseconds until the page has drawn twice. */
function answersWithin(): Promise<number> {
  const start = performance.now()
  return new Promise((resolve) =>
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - start))),
  )
}

function hide({ app }: DesktopApp): Promise<void> {
  // the page is drawn on, but the operator looks elsewhere
  return app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.blur())
}

async function call<T>(page: Page, group: string, name: string, input: unknown): Promise<T> {
  const answer = (await page.evaluate(
    ([inGroup, named, given]) => window.anet.node[inGroup as string]?.[named as string]?.(given),
    [group, name, input],
  )) as { ok: boolean; value: T; error?: unknown }
  if (!answer.ok) throw new Error(JSON.stringify(answer.error))
  return answer.value
}
