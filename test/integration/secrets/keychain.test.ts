import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { forkChild } from '../../../src-main/node/secrets/child.ts'
import { checkKeychain, createSecrets, openSecrets } from '../../../src-main/node/secrets/index.ts'
import { Keychain } from '../../../src-main/node/secrets/keychain.ts'
import { fixedBytes, KeyHolder } from '../../helpers/key-holder.ts'
import { builtKeychainWorker, scriptedChild } from '../../helpers/keychain-child.ts'
import { temporaryFolder } from '../../helpers/temporary-folder.ts'

const { aid } = new KeyHolder('a')
const unavailable = {
  code: 'secret_store_unavailable',
  remedy: expect.stringContaining('--secret-store passphrase') as string,
}
const environment = { ...process.env }
let entry: string

beforeAll(async () => {
  entry = await builtKeychainWorker()
})

afterEach(() => {
  for (const name of ['DBUS_SESSION_BUS_ADDRESS', 'DISPLAY', 'XDG_DATA_HOME', 'XDG_RUNTIME_DIR', 'HOME']) {
    if (environment[name] === undefined) delete process.env[name]
    else process.env[name] = environment[name]
  }
})

describe('a keychain that cannot be used', () => {
  it('without a session bus is unavailable, with what it says', async () => {
    delete process.env['DBUS_SESSION_BUS_ADDRESS']
    delete process.env['DISPLAY']
    process.env['XDG_RUNTIME_DIR'] = await temporaryFolder()
    await expect(checkKeychain({ entry })).rejects.toMatchObject(unavailable)
    await expect(new Keychain({ entry }).get('x')).rejects.toThrow(/the keychain says: .*D-?Bus/i)
  })

  it('that hangs is killed, and unavailable', async () => {
    const source = `process.on('SIGTERM', () => {}); process.on('message', () => {})`
    const hanging = await scriptedChild(await temporaryFolder(), source)
    let ended: Promise<string> | undefined
    const keychain = new Keychain({
      entry: hanging,
      timeoutMs: 1500,
      startChild: (path) => {
        const child = forkChild(path)
        ended = new Promise((resolve) => {
          child.listen(() => {}, resolve)
        })
        return child
      },
    })
    await expect(keychain.get('x')).rejects.toThrow('did not answer within 1.5 seconds')
    expect(await ended).toBe('it ended by SIGKILL')
  })

  it.each([
    ['dies', `process.exit(3)`, 'it ended with status 3'],
    ['does not load', `import 'node:nothing'`, 'it ended with status 1'],
    ['answers nonsense', `process.on('message', () => process.send({ value: 'abc' }))`, 'makes no sense'],
    ['answers no object', `process.on('message', () => process.send('yes'))`, 'makes no sense'],
    ['reports an error', `process.on('message', () => process.send({ ok: false, error: 'locked' }))`, 'says: locked'],
  ])('that %s is unavailable', async (_name, source, why) => {
    const broken = await scriptedChild(await temporaryFolder(), source)
    const call = new Keychain({ entry: broken }).set('x', fixedBytes('x'))
    await expect(call).rejects.toMatchObject(unavailable)
    await expect(call).rejects.toThrow(why)
  })

  it('that forgets what it was given is found out before anything is sealed', async () => {
    const folder = await temporaryFolder()
    const forgetful = await scriptedChild(
      folder,
      `process.on('message', () => process.send({ ok: true, value: null }))`,
    )
    const keychain = { entry: forgetful }
    await expect(checkKeychain(keychain)).rejects.toMatchObject(unavailable)
    const made = createSecrets({
      dataDir: folder,
      kind: 'keychain',
      aid,
      keys: fixedBytes('k'),
      seed: fixedBytes('s'),
      keychain,
    })
    await expect(made).rejects.toMatchObject(unavailable)
    await expect(openSecrets({ dataDir: folder, keychain })).rejects.toMatchObject({ code: 'not_initialised' })
  })
})

const hasKeyring = ['dbus-daemon', 'gnome-keyring-daemon'].every(
  (name) => spawnSync(name, ['--version']).error === undefined,
)

/** A session bus of its own with an unlocked keyring, which ends with the bus. */
async function startKeyring(): Promise<void> {
  const folder = await temporaryFolder()
  for (const name of ['HOME', 'XDG_DATA_HOME', 'XDG_RUNTIME_DIR']) process.env[name] = folder
  const bus = spawn('dbus-daemon', ['--session', '--nofork', '--print-address'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  onTestFinished(async () => {
    bus.kill('SIGKILL')
    await once(bus, 'exit')
  })
  const [address] = (await once(bus.stdout, 'data')) as [Buffer]
  process.env['DBUS_SESSION_BUS_ADDRESS'] = address.toString('utf8').trim()
  // it goes to the background when it can be used
  const keyring = spawn('gnome-keyring-daemon', ['--unlock', '--components=secrets'], {
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  keyring.stdin.end('password')
  expect(await once(keyring, 'exit')).toEqual([0, null])
}

// needs Debian's dbus and gnome-keyring, which .ci/run installs
describe.runIf(hasKeyring)('the keychain of a desktop session', () => {
  it('keeps the wrapping key; another session does not show it', async () => {
    await startKeyring()
    const dataDir = await temporaryFolder()
    const keychain = { entry }
    await checkKeychain(keychain)
    const options = { dataDir, keychain, kind: 'keychain' as const, aid, keys: fixedBytes('k'), seed: fixedBytes('s') }
    const made = await createSecrets(options)
    const opened = await openSecrets({ dataDir, keychain })
    expect(opened.wrappingKey).toEqual(made.wrappingKey)
    expect(opened.kind).toBe('keychain')
    expect(opened.warning).toBeUndefined()

    await startKeyring()
    const elsewhere = openSecrets({ dataDir, keychain })
    await expect(elsewhere).rejects.toMatchObject(unavailable)
    await expect(elsewhere).rejects.toThrow('does not show the key')
  })
})
