import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { descendants } from '../helpers/demo.ts'
import { type DesktopApp, setUp, startDemoFromWindow } from '../helpers/desktop-app.ts'
import { openScene, type Scene } from '../helpers/desktop-scene.ts'

type Envelope = { ok: true; value: unknown } | { ok: false; error: { code: string; message: string } }

const canary = 'canary-7f31c2-of-the-security-test'
let scene: Scene
let desktop: DesktopApp
/** Counts what reaches the outside. */
let outside: Server
let requests = 0
let outsideUrl: string

beforeAll(async () => {
  scene = await openScene({ initialised: false })
  outside = createServer((_request, response) => {
    requests += 1
    response.setHeader('access-control-allow-origin', '*').end('alert(1)')
  }).listen(0, '127.0.0.1')
  await once(outside, 'listening')
  outsideUrl = `http://127.0.0.1:${(outside.address() as AddressInfo).port}/`
  desktop = await scene.launch()
})
afterAll(async () => {
  outside.close()
  await scene.close()
})

test('the page comes with its policy as a header', async () => {
  const answer = await fromMain('app://ui/index.html')
  expect(answer.status).toBe(200)
  expect(answer.policy?.split('; ').toSorted()).toEqual([
    "base-uri 'none'",
    "connect-src 'none'",
    "default-src 'none'",
    "font-src 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "img-src 'self' data:",
    "script-src 'self'",
    "style-src 'self'",
  ])
})

test('app:// serves the built page by GET and nothing else', async () => {
  expect((await fromMain('app://ui/nothing-here.js')).status).toBe(404)
  expect((await fromMain('app://ui/..%2f..%2fpackage.json')).status).toBe(403)
  expect((await fromMain('app://ui/%2e%2e%2f%2e%2e%2fmain/index.js')).status).toBe(403)
  expect((await fromMain('app://ui/%ff')).status).toBe(403)
  expect((await fromMain('app://ui/index.html', 'POST')).status).toBe(405)
  expect((await fromMain('app://other/index.html')).status).not.toBe(200)
})

test('the page runs no text as code and reaches nothing outside', async () => {
  const { page } = desktop
  const blocked = await page.evaluate(async (url) => {
    const violations: string[] = []
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) =>
      violations.push(effectiveDirective),
    )
    const add = (tag: string, attributes: Record<string, string>): Promise<unknown> => {
      const element = Object.assign(document.createElement(tag), attributes)
      const settled = new Promise((resolve) => {
        element.addEventListener('error', resolve)
        element.addEventListener('load', resolve)
      })
      document.body.append(element)
      return settled
    }
    // page.evaluate is exempt from the policy, a string given to setTimeout is not
    try {
      Reflect.apply(setTimeout, undefined, ["document.title = 'evaluated'", 0])
    } catch {
      // some versions throw
    }
    document.body.append(Object.assign(document.createElement('script'), { textContent: "document.title = 'inline'" }))
    const button = document.createElement('button')
    button.setAttribute('onclick', "document.title = 'handler'")
    document.body.append(button)
    button.click()
    const fetched = await fetch(url).then(
      () => 'fetched',
      () => 'refused',
    )
    await add('img', { src: `${url}pixel.png` })
    await add('script', { src: `${url}script.js` })
    await add('link', { rel: 'stylesheet', href: `${url}style.css` })
    const form = Object.assign(document.createElement('form'), { action: url, method: 'post' })
    document.body.append(form)
    form.submit()
    await new Promise((resolve) => setTimeout(resolve, 0))
    return { fetched, violations, title: document.title }
  }, outsideUrl)
  expect(blocked.title).toBe('ANet')
  expect(blocked.fetched).toBe('refused')
  for (const directive of ['script-src', 'script-src-elem', 'script-src-attr', 'connect-src', 'img-src'])
    expect(blocked.violations, directive).toContain(directive)
  expect(requests).toBe(0)
  await page.reload()
})

test('the page cannot leave, open a window or embed another page', async () => {
  const { app, page } = desktop
  const url = page.url()
  const opened = await page.evaluate((target) => {
    const popup = window.open(target)
    const webview = document.createElement('webview')
    webview.setAttribute('src', target)
    document.body.append(webview)
    const frame = document.createElement('iframe')
    frame.src = target
    document.body.append(frame)
    location.href = target
    return { popup: popup === null, bridgeInFrame: frame.contentWindow !== null && 'anet' in frame.contentWindow }
  }, outsideUrl)
  expect(opened.popup).toBe(true)
  expect(opened.bridgeInFrame).toBe(false)
  expect(await page.evaluate(() => location.href)).toBe(url)
  expect(await app.evaluate(({ webContents }) => webContents.getAllWebContents().length)).toBe(1)
  expect(requests).toBe(0)
  await page.reload()
})

test('no permission is given', async () => {
  const answers = await desktop.page.evaluate(async () => {
    const failure = (error: unknown): string => (error instanceof Error ? error.name : String(error))
    return {
      position: await new Promise((resolve) =>
        navigator.geolocation.getCurrentPosition(
          () => resolve('given'),
          ({ code }) => resolve(code),
        ),
      ),
      notification: await Notification.requestPermission(),
      media: await navigator.mediaDevices.getUserMedia({ audio: true }).then(() => 'given', failure),
      clipboard: await navigator.clipboard.readText().then(() => 'given', failure),
      midi: await navigator.requestMIDIAccess().then(() => 'given', failure),
    }
  })
  expect(answers).toMatchObject({ position: 1, notification: 'denied' })
  for (const name of [answers.media, answers.clipboard, answers.midi])
    expect(name).toMatch(/NotAllowedError|NotFoundError|SecurityError/)
})

test('calls of any page but the one of the window are refused', async () => {
  const { app } = desktop
  for (const url of ['data:text/html,<p>foreign</p>', 'app://ui/index.html']) {
    const answers = await app.evaluate(async ({ app: electronApp, BrowserWindow }, target) => {
      // the worst case: a window that got the same preload script
      const preload = `${electronApp.getAppPath()}/out/preload/preload.cjs`
      const foreign = new BrowserWindow({
        show: false,
        // the session of ANet loads nothing but app://
        webPreferences: { preload, sandbox: true, ...(target.startsWith('app:') ? {} : { partition: 'foreign' }) },
      })
      await foreign.loadURL(target)
      const call = (script: string): Promise<unknown> => foreign.webContents.executeJavaScript(script)
      const result = [
        await call('window.anet.node.node.status({})'),
        await call("window.anet.desktop.shell.copyText({ text: 'stolen' })"),
        await call('window.anet.desktop.shell.quit({})'),
        await call('window.anet.desktop.setup.begin({ secretStore: "file" })'),
      ]
      foreign.destroy()
      return result as Envelope[]
    }, url)
    for (const answer of answers) expect(answer).toMatchObject({ ok: false, error: { code: 'forbidden_sender' } })
  }
})

test('wrong and too large arguments get an error and change nothing', async () => {
  const answers = await desktop.page.evaluate(async () => {
    const { node, desktop: shell } = window.anet
    const cyclic: Record<string, unknown> = {}
    cyclic['self'] = cyclic
    return {
      wrongType: await shell['shell']?.['setTheme']?.({ theme: 5 }),
      extra: await shell['shell']?.['state']?.({ admin: true }),
      missing: await shell['shell']?.['copyText']?.(undefined),
      large: await shell['shell']?.['copyText']?.({ text: 'x'.repeat(5 * 1024 * 1024) }),
      cyclic: await shell['shell']?.['copyText']?.(cyclic),
      bigint: await shell['shell']?.['copyText']?.({ text: 1n }),
      prototype: await shell['shell']?.['copyText']?.(JSON.parse('{"__proto__":{"text":"x"}}')),
      noNode: await node['tasks']?.['list']?.({}),
    }
  })
  const codeOf = (answer: unknown): string =>
    (answer as Envelope).ok ? 'ok' : (answer as Envelope & { ok: false }).error.code
  expect(Object.fromEntries(Object.entries(answers).map(([name, answer]) => [name, codeOf(answer)]))).toEqual({
    wrongType: 'invalid_input',
    extra: 'invalid_input',
    missing: 'invalid_input',
    large: 'input_too_large',
    cyclic: 'invalid_input',
    bigint: 'invalid_input',
    prototype: 'invalid_input',
    noNode: 'node_not_running',
  })
})

test('no secret and no text of a task is in a log, an argument or an environment', async () => {
  const { page, app } = desktop
  const phrase = (await setUp(page)).join(' ')
  expect(phrase.split(' ')).toHaveLength(24)
  await startDemoFromWindow(page)
  const sent = await page.evaluate(async (text) => {
    const { tasks, agents } = window.anet.node
    const listed = (await agents?.['list']?.({ limit: 50 })) as { value: { agents: { aid: string; name: string }[] } }
    const echo = listed.value.agents.find(({ name }) => name === 'Echo')
    return tasks?.['send']?.({ agent: echo?.aid, text })
  }, canary)
  expect(sent).toMatchObject({ ok: true })
  await page.keyboard.press('3')
  await page.getByText(canary).first().waitFor()
  await page.getByText('Completed').first().waitFor()

  const files = readdirSync(scene.dataDir, { recursive: true, encoding: 'utf8' })
  const read = (path: string): string => readFileSync(join(scene.dataDir, path), 'utf8')
  const tokens = files.filter((path) => /token[^/]*$/.test(path)).map((path) => read(path).trim())
  expect(tokens.length).toBeGreaterThan(2)
  const secrets = [canary, phrase, ...tokens]

  const logs = files.filter((path) => /\.log(\.|$)/.test(path))
  expect(logs.length).toBeGreaterThan(0)
  const places = logs.map((path) => [path, read(path)] as const)
  const main = app.process().pid ?? 0
  const children = descendants(main)
  expect(children.length).toBeGreaterThan(3)
  for (const pid of [main, ...children]) {
    for (const what of ['cmdline', 'environ']) {
      const file = `/proc/${pid}/${what}`
      if (existsSync(file)) places.push([`${what} of ${pid}`, readFileSync(file, 'utf8')])
    }
  }
  places.push(['output', desktop.output()])
  for (const [place, text] of places)
    for (const secret of secrets) expect(text.includes(secret), `${place} holds a secret`).toBe(false)
})

/** What the protocol answers, read in the main process: there the page's policy does not stand in between. */
function fromMain(url: string, method = 'GET'): Promise<{ status: number; policy: string | null }> {
  return desktop.app.evaluate(
    async ({ net }, request) => {
      try {
        const response = await net.fetch(request.url, { method: request.method })
        return { status: response.status, policy: response.headers.get('content-security-policy') }
      } catch {
        return { status: 0, policy: null }
      }
    },
    { url, method },
  )
}
