// `npm run screenshots`: walks through the application and writes each view in light and dark to docs/screenshots/.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { _electron } from 'playwright-core'
import { resolveElectron } from './electron-runtime.mjs'
import { ensureBuilt } from './output.mjs'
import { inVirtualDesktop } from './virtual-desktop.mjs'

const root = resolve(import.meta.dirname, '..')
const target = join(root, 'docs/screenshots')
// always the same, because pictures show paths
const home = join(tmpdir(), 'anet')
const dataDir = join(home, '.anet')
const guest = join(home, 'guest')

async function main() {
  const problem = await ensureBuilt(root)
  if (problem !== undefined) throw new Error(problem)
  rmSync(home, { recursive: true, force: true })
  mkdirSync(home, { recursive: true, mode: 0o700 })
  mkdirSync(target, { recursive: true })
  const keyring = unlockKeyring()
  try {
    await firstRunAndViews()
    await conflict()
  } finally {
    anet(guest, ['stop', '--force'])
    keyring?.kill()
    rmSync(home, { recursive: true, force: true })
  }
}

async function firstRunAndViews() {
  const { app, page } = await launch()
  await page.getByText('Testing what works on this computer.').waitFor({ state: 'detached' })
  await picture(page, 'first-run-1')
  const keychain = page.getByRole('radio', { name: 'System keychain' })
  await ((await keychain.isEnabled()) ? keychain : page.getByRole('radio', { name: 'Plain file' })).check()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('heading', { name: 'Write down these 24 words' }).waitFor()
  const words = await page.locator('ol code').allTextContents()
  await picture(page, 'first-run-2')
  await page.getByRole('button', { name: 'I wrote them down' }).click()
  const fields = page.getByRole('textbox', { name: /^Word \d+$/ })
  await fields.first().waitFor()
  const positions = await fields.evaluateAll((inputs) =>
    inputs.map((input) =>
      Number(/\d+/.exec(input.getAttribute('aria-label') ?? input.labels?.[0]?.textContent ?? '')?.[0]),
    ),
  )
  await fields.first().fill(words[positions[0] - 1])
  await picture(page, 'first-run-2b')
  for (const [index, position] of positions.entries()) await fields.nth(index).fill(words[position - 1])
  await page.getByRole('button', { name: 'Check the words' }).click()
  await page.getByRole('heading', { name: 'Choose your first network' }).waitFor()
  await picture(page, 'first-run-3')
  await page.getByRole('button', { name: 'Start the demo network' }).click()
  await page.getByText('3 agents known').waitFor()
  await picture(page, 'overview-empty')

  await page.keyboard.press('2')
  await page.getByRole('row', { name: /^Echo/ }).waitFor()
  await picture(page, 'agents')
  await page.getByRole('row', { name: /^Echo/ }).click()
  await page.getByRole('button', { name: 'Send a task…' }).waitFor()
  await picture(page, 'agent')
  await page.getByRole('button', { name: 'Send a task…' }).click()
  await page.getByLabel('What should it do?').fill('Say it back to me, word for word, and attach it as a file.')
  await picture(page, 'send')
  await page.getByRole('button', { name: 'Send task' }).click()
  const detail = page.getByRole('region', { name: 'Task' })
  await detail.getByText('Completed').first().waitFor()
  await detail.getByText('echo.txt').waitFor()
  await sendTo(page, 'Summariser', summary, 'Completed')
  await sendTo(page, 'Asker', 'Write an invitation to the launch on Thursday at six.', 'Asks you')
  await page.keyboard.press('3')
  await page.getByText('Write an invitation to the launch').first().click()
  await detail.getByLabel('Your answer').waitFor()
  await picture(page, 'task-asking')
  await page.getByText('Say it back to me').first().click()
  await detail.getByText('echo.txt').waitFor()
  await picture(page, 'task')

  await page.keyboard.press('4')
  await page.getByText('The inbox is empty.').waitFor()
  await picture(page, 'inbox-empty')
  await guestSends(page)
  await page.getByText('Bea').first().waitFor()
  await page.getByText('Could you look over the programme').first().click()
  await page.getByLabel('Your reply').waitFor()
  await picture(page, 'inbox')
  await page.keyboard.press('1')
  await page.getByText('Recent tasks').waitFor()
  await picture(page, 'overview')
  await page.keyboard.press('5')
  for (const section of ['Hub', 'Doctor', 'Look', 'Data', 'About']) {
    await page
      .getByRole('navigation', { name: 'Sections of the settings' })
      .getByRole('button', { name: section })
      .click()
    await page.getByRole('heading', { name: section, level: 2 }).waitFor()
    if (section === 'Doctor')
      await page
        .getByText(/^(Pass|Warning|Fails)$/)
        .first()
        .waitFor()
    await picture(page, `settings-${section.toLowerCase()}`)
  }
  await quit(app, page)
}

const summary =
  'The hub carries sealed messages. It sees who writes to whom and when, and it cannot read a word of it. ' +
  'A node keeps what was said for its owner. Losing the hub for an hour loses nothing: what was sent waits, and goes on.'

async function conflict() {
  const address = readFileSync(join(dataDir, 'modules/a2a/a2a_addr.txt'), 'utf8').trim()
  const holder = createServer().listen(Number(address.split(':')[1]), '127.0.0.1')
  await once(holder, 'listening')
  const { app, page } = await launch()
  await page.getByRole('alert', { name: 'Port conflict' }).waitFor()
  await page.getByRole('heading', { name: 'The node is up and joined, but not listening for your tools.' }).waitFor()
  await picture(page, 'conflict')
  await quit(app, page)
  holder.close()
}

/** Another node on the demo's hub sends the operator a task, which waits in the inbox. */
async function guestSends(page) {
  const { url, aid } = await page.evaluate(async () => {
    const { value } = await window.anet.node.node.status({})
    return { url: value.join.hub.url, aid: value.aid }
  })
  anet(guest, ['init', '--secret-store', 'file', '--recovery-file', join(home, 'phrase')])
  const config = join(guest, 'config.json')
  // with a skill it has a card, and so a name that others can verify
  const skill = { id: 'programme', name: 'Programme', description: 'Plans the programme of an evening.' }
  const given = existsSync(config) ? JSON.parse(readFileSync(config, 'utf8')) : {}
  writeFileSync(config, JSON.stringify({ ...given, agent: { name: 'Bea' }, skills: [skill] }), { mode: 0o600 })
  const { aid: sender } = JSON.parse(anet(guest, ['up', '--json']))
  await page.evaluate((from) => window.anet.node.agents.setRelation({ aid: from, relation: 'allow' }), sender)
  anet(guest, ['join', url])
  await page.waitForFunction(async () => {
    const { value } = await window.anet.node.agents.list({ refresh: true, limit: 50 })
    return value.agents.some(({ name }) => name === 'Bea')
  })
  anet(guest, [
    'send',
    aid,
    'Could you look over the programme for Thursday? The second hour is too full.',
    '--no-wait',
  ])
}

async function sendTo(page, name, text, until) {
  await page.evaluate(
    async ([agentName, content]) => {
      const { value } = await window.anet.node.agents.list({ limit: 50 })
      const { aid } = value.agents.find((agent) => agent.name === agentName)
      await window.anet.node.tasks.send({ agent: aid, text: content })
    },
    [name, text],
  )
  await page.keyboard.press('3')
  await page.getByText(text.slice(0, 30)).first().click()
  await page.getByRole('region', { name: 'Task' }).getByText(until).first().waitFor()
}

async function picture(page, name) {
  for (const theme of ['light', 'dark']) {
    await page.evaluate((wanted) => window.anet.desktop.shell.setTheme({ theme: wanted }), theme)
    await page.waitForFunction((wanted) => matchMedia(`(prefers-color-scheme: ${wanted})`).matches, theme)
    // a pointer that rests somewhere would light up what is under it
    await page.mouse.move(0, 0)
    await page.evaluate(() => document.fonts.ready)
    await page.screenshot({ path: join(target, `${name}-${theme}.png`), animations: 'disabled', caret: 'hide' })
  }
  process.stderr.write(`${name}\n`)
}

async function launch() {
  const { executable } = await resolveElectron((sentence) => process.stderr.write(`${sentence}\n`))
  const app = await _electron.launch({
    executablePath: executable,
    args: [...(process.getuid() === 0 ? ['--no-sandbox'] : []), '--disable-gpu', root],
    cwd: root,
    colorScheme: null,
    env: { ...process.env, ANET_DATA_DIR: dataDir },
  })
  const page = await app.firstWindow()
  await app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0].setContentSize(1280, 800))
  await page.waitForFunction(() => innerWidth === 1280 && innerHeight === 800)
  return { app, page }
}

async function quit(app, page) {
  const ended = once(app.process(), 'exit')
  await page.evaluate(() => window.anet.desktop.shell.quit({})).catch(() => {})
  await ended
}

function anet(directory, parameters) {
  const env = { ...process.env, ANET_DATA_DIR: directory }
  try {
    return execFileSync(process.execPath, [join(root, 'out/cli/index.js'), ...parameters], { env, encoding: 'utf8' })
  } catch (error) {
    if (parameters[0] === 'stop') return ''
    throw error
  }
}

/** With it the keychain can be offered, as it is on a desktop. */
function unlockKeyring() {
  const child = spawn('gnome-keyring-daemon', ['--foreground', '--unlock', '--components=secrets'], {
    env: { ...process.env, HOME: home, XDG_DATA_HOME: join(home, 'keyring') },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  child.once('error', () => {})
  child.stdin.on('error', () => {})
  child.stdin.end('screenshots')
  return child
}

if (!inVirtualDesktop(import.meta.filename)) {
  main().catch((error) => {
    process.stderr.write(`${error.stack}\n`)
    // Playwright ends an application that still runs
    process.exit(1)
  })
}
