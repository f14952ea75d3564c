import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { setUp } from '../helpers/desktop-app.ts'
import { openScene, type Scene } from '../helpers/desktop-scene.ts'
import { type Keyring, type PrivateBus, startPrivateBus } from '../helpers/private-bus.ts'

const passphrase = 'nobody would guess this'
let scene: Scene
let bus: PrivateBus | undefined

beforeEach(async () => {
  scene = await openScene({ initialised: false })
})
afterEach(async () => {
  await scene.close()
  await bus?.stop()
  bus = undefined
})

test('a passphrase is asked for at the next start; a wrong one opens nothing', async () => {
  const first = await scene.launch(await busWith('none'))
  await setUp(first.page, async (page) => {
    await page.getByRole('radio', { name: 'Passphrase' }).check()
    await page.getByLabel('Passphrase', { exact: true }).last().fill('too short')
    await page.getByLabel('Repeat the passphrase').fill('too short')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('Use at least 12 characters.').waitFor()
    await page.getByLabel('Passphrase', { exact: true }).last().fill(passphrase)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('The two passphrases differ.').waitFor()
    await page.getByLabel('Repeat the passphrase').fill(passphrase)
  })
  await first.quit()

  const { page, quit } = await scene.launch(bus?.env)
  const field = page.getByLabel('Passphrase')
  await page.getByRole('heading', { name: 'Type the passphrase' }).waitFor()
  await field.fill('not the right one')
  await page.keyboard.press('Enter')
  await page.getByText(/passphrase is (wrong|not the right one)|wrong passphrase|does not open/i).waitFor()
  expect(await page.evaluate(() => window.anet.node['node']?.['status']?.({}))).toMatchObject({ ok: false })
  await field.fill(passphrase)
  await page.getByRole('button', { name: 'Unlock' }).click()
  await page.getByRole('heading', { name: 'Choose your first network' }).waitFor()
  await quit()
})

test('an unlocked keychain is offered first, and opens the node without a question', async () => {
  const first = await scene.launch(await busWith('unlocked'))
  await setUp(first.page, async (page) => {
    const keychain = page.getByRole('radio', { name: 'System keychain' })
    await expect.poll(() => keychain.isChecked()).toBe(true)
    await page.getByText('The keychain was found and tested.').waitFor()
  })
  await first.page.getByText('In the system keychain').first().waitFor()
  await first.quit()
  const second = await scene.launch(bus?.env)
  await second.page.getByRole('heading', { name: 'Choose your first network' }).waitFor()
  await second.quit()
})

test('a node whose keychain is not there any more says so, and makes no new identity', async () => {
  const first = await scene.launch(await busWith('unlocked'))
  await setUp(first.page, (page) =>
    expect.poll(() => page.getByRole('radio', { name: 'System keychain' }).isChecked()).toBe(true),
  )
  await first.quit()
  await bus?.stop()
  const second = await scene.launch(await busWith('none'))
  await second.page.getByRole('heading', { name: 'The node did not start.' }).waitFor()
  await second.page
    .getByText(/keychain/i)
    .first()
    .waitFor()
  await second.page.getByRole('button', { name: 'Start again' }).waitFor()
  expect(await second.page.getByText('Where should the key be kept?').count()).toBe(0)
  await second.quit()
})

test.each<Keyring>(['none', 'locked'])('a keychain that is %s is not offered, and nothing hangs', async (keyring) => {
  const { page, quit } = await scene.launch(await busWith(keyring))
  await page.getByText('Not available here').waitFor({ timeout: 15_000 })
  expect(await page.getByRole('radio', { name: 'System keychain' }).isDisabled()).toBe(true)
  expect(await page.getByRole('radio', { name: 'Passphrase' }).isEnabled()).toBe(true)
  await quit()
})

test('without a session bus the window works all the same', async () => {
  const nowhere = `unix:path=${join(scene.folder, 'no bus')}`
  const { page, quit } = await scene.launch({ DBUS_SESSION_BUS_ADDRESS: nowhere })
  await page.getByText('Not available here').waitFor({ timeout: 15_000 })
  await setUp(page)
  await quit()
})

test('a data directory of another user is refused with what to do', async () => {
  const foreign = join(scene.folder, 'of another user')
  mkdirSync(foreign, { mode: 0o700 })
  // only root can give a folder away; for anybody else one that may not be written says the same
  if (process.getuid?.() === 0) chownSync(foreign, 65_534, 65_534)
  else chmodSync(foreign, 0o500)
  const { page, quit } = await scene.launch({}, foreign)
  await page.getByRole('heading', { name: 'The node did not start.' }).waitFor()
  await page.getByText(/belongs to another user|may not be written/).waitFor()
  await page.getByText(/ANET_DATA_DIR/).waitFor()
  await quit()
  chmodSync(foreign, 0o700)
})

test('a file in the place of the data directory is refused with its name', async () => {
  const file = join(scene.folder, 'a file')
  writeFileSync(file, 'not a directory')
  const { page, quit } = await scene.launch({}, file)
  await page.getByText(`${file} is not a directory.`).waitFor()
  await quit()
})

async function busWith(keyring: Keyring): Promise<Record<string, string>> {
  bus = await startPrivateBus(keyring)
  return bus.env
}
