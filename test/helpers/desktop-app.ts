import { once } from 'node:events'
import { resolve } from 'node:path'
import { _electron, type ElectronApplication, type Page } from 'playwright-core'
import { resolveElectron } from '../../build/electron-runtime.mjs'

declare global {
  interface Window {
    /** What the preload script hands to the page; calls answer with a result envelope. */
    readonly anet: Record<'node' | 'desktop', Record<string, Record<string, (input: unknown) => Promise<unknown>>>>
  }
}

const root = resolve(import.meta.dirname, '../..')

export interface DesktopApp {
  readonly app: ElectronApplication
  readonly page: Page
  /** Everything the application has written to stdout and stderr. */
  readonly output: () => string
  /** Quits as the tray does and waits for the process to end. */
  quit(): Promise<void>
}

export const electron = resolveElectron(() => {})

/** root has no sandbox: in development and tests only */
export const launchFlags = [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), '--disable-gpu']

/** Starts the built application on a data directory, in the real Electron. */
export async function startDesktop(
  dataDir: string,
  env: Record<string, string> = {},
  flags: readonly string[] = [],
): Promise<DesktopApp> {
  const { executable } = await electron
  const app = await _electron.launch({
    executablePath: executable,
    args: [...launchFlags, root, ...flags],
    cwd: root,
    // Playwright would pin the light theme
    colorScheme: null,
    env: { ...(process.env as Record<string, string>), ANET_DATA_DIR: dataDir, ...env },
  })
  let output = ''
  for (const stream of [app.process().stdout, app.process().stderr])
    stream?.on('data', (chunk: Buffer) => void (output += chunk.toString()))
  const page = await app.firstWindow()
  const main = app.process()
  return {
    app,
    page,
    output: () => output,
    quit: async () => {
      if (main.exitCode !== null || main.signalCode !== null) return
      const ended = once(main, 'exit')
      // through the application: the page may have crashed
      await app.evaluate(({ app: running }) => running.quit()).catch(() => {})
      await ended
    },
  }
}

/**
 * Goes through the first run, with the plain file unless told otherwise: the phrase is read from the page and confirmed.
 * Returns its words.
 */
export async function setUp(page: Page, chooseStore = choosePlainFile): Promise<readonly string[]> {
  await chooseStore(page)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('heading', { name: 'Write down these 24 words' }).waitFor()
  const words = await page.locator('ol code').allTextContents()
  await page.getByRole('button', { name: 'I wrote them down' }).click()
  const fields = page.getByRole('textbox', { name: /^Word \d+$/ })
  await fields.first().waitFor()
  for (const field of await fields.all()) {
    const label =
      (await field.getAttribute('aria-label')) ??
      (await field.evaluate((input) => (input as HTMLInputElement).labels?.[0]?.textContent ?? ''))
    await field.fill(words[Number(/\d+/.exec(label)?.[0]) - 1] ?? '')
  }
  await page.getByRole('button', { name: 'Check the words' }).click()
  await page.getByRole('heading', { name: 'Choose your first network' }).waitFor()
  return words
}

async function choosePlainFile(page: Page): Promise<void> {
  await page.getByRole('radio', { name: 'Plain file' }).check()
}

/** Starts the demo network from the first run and waits until its three agents are there. */
export async function startDemoFromWindow(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Start the demo network' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor({ timeout: 30_000 })
  await page.getByText('3 agents known').waitFor({ timeout: 30_000 })
}
