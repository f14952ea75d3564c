import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { verifyHistory } from '@shared/wire/index.ts'
import { crypto } from '../../../src-main/node/crypto.ts'
import { identityMigrations, openIdentity } from '../../../src-main/node/identity/index.ts'
import { nextKeySeed, openSecrets, recoverySeed } from '../../../src-main/node/secrets/index.ts'
import { beginSetup, type Setup } from '../../../src-main/node/setup.ts'
import { temporaryFolder } from '../../helpers/temporary-folder.ts'
import { silentLog, steeredClock, temporaryStore } from '../../helpers/temporary-store.ts'

const clock = steeredClock()

function asked(setup: Setup): string[] {
  const words = setup.phrase.split(' ')
  return setup.ask.map((position) => words[position - 1] ?? '')
}

async function emptyDirectory(): Promise<string> {
  return join(await temporaryFolder(), 'data')
}

async function identityIn(dataDir: string) {
  const secrets = await openSecrets({ dataDir })
  const store = await temporaryStore({ migrations: identityMigrations })
  return openIdentity({ secrets, store, crypto, clock, log: silentLog })
}

describe('set-up', () => {
  it('makes an identity whose next key comes from the phrase', async () => {
    const dataDir = await emptyDirectory()
    const setup = await beginSetup({ dataDir, secretStore: 'file', clock })
    const { aid } = await setup.finish(asked(setup))
    const identity = await identityIn(dataDir)
    expect(identity.aid).toBe(aid)
    const history = verifyHistory(crypto, identity.history, aid)
    const next = crypto.ed25519PublicKey(nextKeySeed(await recoverySeed(setup.phrase), 1))
    expect(history.next).toEqual(crypto.sha256(next))
    expect(history.key).toEqual(identity.publicKey)
  })

  it('shows 24 words and asks for three of them, in order', async () => {
    const setup = await beginSetup({ dataDir: await emptyDirectory(), secretStore: 'file', clock })
    expect(setup.phrase.split(' ')).toHaveLength(24)
    expect(setup.ask).toHaveLength(3)
    expect(new Set(setup.ask).size).toBe(3)
    expect(setup.ask).toEqual([...setup.ask].sort((a, b) => a - b))
    for (const position of setup.ask) expect(position).toBeGreaterThanOrEqual(1)
    for (const position of setup.ask) expect(position).toBeLessThanOrEqual(24)
  })

  it('leaves nothing on the disk until the words are confirmed', async () => {
    const parent = await temporaryFolder()
    const dataDir = join(parent, 'data')
    const setup = await beginSetup({ dataDir, secretStore: 'file', clock })
    const right = asked(setup)
    for (const words of [[], right.slice(1), [...right, 'zoo'], ['x', ...right.slice(1)], [...right.slice(0, 2), '']]) {
      await expect(setup.finish(words)).rejects.toMatchObject({ code: 'recovery_phrase_not_confirmed' })
    }
    expect(await readdir(parent)).toEqual([])
    await setup.finish(right.map((word) => ` ${word.toUpperCase()} `))
    expect(await readdir(dataDir)).toEqual(['keys'])
  })

  it('happens once', async () => {
    const dataDir = await emptyDirectory()
    const setup = await beginSetup({ dataDir, secretStore: 'file', clock })
    const { aid } = await setup.finish(asked(setup))
    const again = { code: 'already_initialised', details: { aid } }
    await expect(setup.finish(asked(setup))).rejects.toMatchObject(again)
    await expect(beginSetup({ dataDir, secretStore: 'passphrase', clock })).rejects.toMatchObject(again)
    expect((await identityIn(dataDir)).aid).toBe(aid)
  })

  it('makes one identity when two of them end at the same time', async () => {
    const dataDir = await emptyDirectory()
    const setups = await Promise.all([1, 2, 3].map(() => beginSetup({ dataDir, secretStore: 'file', clock })))
    const ends = await Promise.allSettled(setups.map((setup) => setup.finish(asked(setup))))
    const made = ends.filter((end) => end.status === 'fulfilled')
    expect(made).toHaveLength(1)
    for (const end of ends) {
      if (end.status === 'rejected') expect(end.reason).toMatchObject({ code: 'already_initialised' })
    }
    expect((await identityIn(dataDir)).aid).toBe(made[0]?.value.aid)
  })

  it('can be run again after it was broken off before the identity was there', async () => {
    const dataDir = await emptyDirectory()
    const broken = await beginSetup({
      dataDir,
      secretStore: 'file',
      clock,
      fault: (name) => {
        if (name === 'setup.wrapping_key_kept') throw new Error('broken off')
      },
    })
    await expect(broken.finish(asked(broken))).rejects.toThrow('broken off')
    await expect(openSecrets({ dataDir })).rejects.toMatchObject({ code: 'not_initialised' })
    await writeFile(join(dataDir, 'keys', '.keys.sealed.1.abc.tmp'), 'half')
    const setup = await beginSetup({ dataDir, secretStore: 'file', clock })
    const { aid } = await setup.finish(asked(setup))
    expect((await identityIn(dataDir)).aid).toBe(aid)
  })

  it('that was broken off after that is done', async () => {
    const dataDir = await emptyDirectory()
    const broken = await beginSetup({
      dataDir,
      secretStore: 'file',
      clock,
      fault: (name) => {
        if (name === 'setup.identity_saved') throw new Error('broken off')
      },
    })
    await expect(broken.finish(asked(broken))).rejects.toThrow('broken off')
    await expect(beginSetup({ dataDir, secretStore: 'file', clock })).rejects.toMatchObject({
      code: 'already_initialised',
    })
    expect((await identityIn(dataDir)).history).toHaveLength(1)
  })

  it('makes no second identity where keys were lost', async () => {
    const dataDir = await emptyDirectory()
    await mkdir(dataDir, { mode: 0o700 })
    await writeFile(join(dataDir, 'node.db'), 'a database')
    await expect(beginSetup({ dataDir, secretStore: 'file', clock })).rejects.toMatchObject({
      code: 'key_file_damaged',
    })
  })

  it('asks for a new passphrase once, before the phrase is shown', async () => {
    const dataDir = await emptyDirectory()
    const begin = (passphrase?: string) =>
      beginSetup({
        dataDir,
        secretStore: 'passphrase',
        clock,
        ...(passphrase === undefined ? {} : { passphrase: () => Promise.resolve(passphrase) }),
      })
    await expect(begin()).rejects.toMatchObject({ code: 'passphrase_needed' })
    await expect(begin('short')).rejects.toMatchObject({ code: 'passphrase_too_short' })
    await expect(begin('x'.repeat(2000))).rejects.toMatchObject({ code: 'passphrase_too_long' })
    const setup = await begin('correct horse battery')
    const { aid } = await setup.finish(asked(setup))
    const secrets = await openSecrets({ dataDir, passphrase: () => Promise.resolve('correct horse battery') })
    expect([secrets.aid, secrets.kind]).toEqual([aid, 'passphrase'])
  })

  it('tells that the keychain cannot be used before the phrase is shown', async () => {
    const dataDir = await emptyDirectory()
    const keychain = { entry: join(dataDir, 'no-such-file.js') }
    await expect(beginSetup({ dataDir, secretStore: 'keychain', keychain, clock })).rejects.toMatchObject({
      code: 'secret_store_unavailable',
    })
  })
})
