import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DesktopApp, setUp, startDemoFromWindow } from '../helpers/desktop-app.ts'
import { openScene, type Scene } from '../helpers/desktop-scene.ts'

declare global {
  interface Window {
    readonly axe: typeof axe
  }
}

let scene: Scene
let desktop: DesktopApp

beforeAll(async () => {
  scene = await openScene({ initialised: false })
  desktop = await scene.launch()
})
afterAll(() => scene.close())

test('the first run is clean in both themes', async () => {
  const { page } = desktop
  await page.getByText('Testing what works on this computer.').waitFor({ state: 'detached' })
  await clean(page, 'step 1')
  await page.getByRole('radio', { name: 'Passphrase' }).check()
  await clean(page, 'step 1 with a passphrase')
  await page.getByRole('radio', { name: 'Plain file' }).check()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('heading', { name: 'Write down these 24 words' }).waitFor()
  await clean(page, 'step 2')
  await page.getByRole('button', { name: 'I wrote them down' }).click()
  await page
    .getByRole('textbox', { name: /^Word \d+$/ })
    .first()
    .waitFor()
  await clean(page, 'step 2b')
  await page.getByRole('button', { name: 'Back to the words' }).click()
  await page.getByRole('button', { name: 'Back', exact: true }).click()
  await setUp(page)
  await clean(page, 'step 3')
})

test('a task is sent, and its answer read, with the keyboard alone', async () => {
  const { page } = desktop
  await startDemoFromWindow(page)
  await clean(page, 'overview')
  await page.keyboard.press('2')
  await chooseEcho(page)
  await clean(page, 'agents with detail')
  await tabTo(page, /^Send a task…$/)
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await clean(page, 'send dialog')
  await tabTo(page, /^What should it do\?/)
  await page.keyboard.type('Typed, never clicked.')
  await tabTo(page, /^Send task$/)
  await page.keyboard.press('Enter')
  const detail = page.getByRole('region', { name: 'Task' })
  await detail.getByText('Completed').first().waitFor()
  await detail.getByRole('blockquote').getByText('Typed, never clicked.').waitFor()
  await clean(page, 'tasks with detail')
})

test('a dialog keeps the focus, closes with Escape and gives it back', async () => {
  const { page } = desktop
  await page.keyboard.press('2')
  await chooseEcho(page)
  await tabTo(page, /^Send a task…$/)
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  for (let step = 0; step < 12; step += 1) {
    await page.keyboard.press('Tab')
    expect(
      await page.evaluate(
        () =>
          document.activeElement?.closest('[role=dialog], dialog') !== null || document.activeElement === document.body,
      ),
    ).toBe(true)
  }
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  expect(await focused(page)).toMatch(/^Send a task…/)
})

test('every other view is clean in both themes', async () => {
  const { page } = desktop
  for (const [key, view] of ['Overview', 'Agents', 'Tasks', 'Inbox', 'Settings'].entries()) {
    await page.keyboard.press(String(key + 1))
    await page.getByRole('heading', { name: view, level: 1 }).waitFor()
    await clean(page, view)
  }
  const menu = page.getByRole('navigation', { name: 'Sections of the settings' })
  for (const section of await menu.getByRole('button').all()) {
    await section.click()
    await clean(page, `Settings, ${await section.innerText()}`)
  }
})

/** Goes through the rows of the table with the arrow keys. */
async function chooseEcho(page: Page): Promise<void> {
  await tabTo(page, /^Agents$/, 'rowgroup')
  for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowDown', 'ArrowDown', 'ArrowDown']) {
    if (await page.getByRole('row', { name: /^Echo/, selected: true }).isVisible()) break
    await page.keyboard.press(key)
  }
  await page.getByRole('heading', { name: 'Echo' }).waitFor()
}

/** axe finds nothing, in light and in dark. */
async function clean(page: Page, where: string): Promise<void> {
  for (const theme of ['light', 'dark']) {
    await page.evaluate((wanted) => window.anet.desktop['shell']?.['setTheme']?.({ theme: wanted }), theme)
    await page.waitForFunction((wanted) => document.documentElement.dataset['theme'] === wanted, theme)
    // colours that still change would be judged half way
    await page.evaluate(() => Promise.all(document.getAnimations().map((animation) => animation.finished)))
    await page.evaluate(axe.source)
    const { violations } = await page.evaluate(() => window.axe.run())
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`)
    expect(found, `${where}, ${theme}`).toEqual([])
  }
}

/** Presses Tab until what has the focus is named so. */
async function tabTo(page: Page, name: RegExp, role?: string): Promise<void> {
  const passed: string[] = []
  for (let step = 0; step < 60; step += 1) {
    const now = await focused(page)
    if (name.test(now) && (role === undefined || (await roleOfFocus(page)) === role)) return
    passed.push(now)
    await page.keyboard.press('Tab')
  }
  throw new Error(`No Tab leads to ${String(name)}, but to: ${passed.join(' → ')}`)
}

/** Label or text of what has the focus. */
function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement as (HTMLElement & { labels?: NodeListOf<HTMLLabelElement> }) | null
    const label = element?.getAttribute('aria-label') ?? element?.labels?.[0]?.textContent ?? element?.innerText ?? ''
    return label.trim()
  })
}

function roleOfFocus(page: Page): Promise<string | null | undefined> {
  return page.evaluate(() => document.activeElement?.getAttribute('role'))
}
