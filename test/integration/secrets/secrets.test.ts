import { chmod, open, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isAnetError } from '@shared/errors.ts'
import { decodeCbor, encodeCbor } from '@shared/wire/index.ts'
import {
  createSecrets,
  describeSecrets,
  openSecrets,
  passphraseFromDescriptor,
  passphraseFromFile,
  type SecretStoreKind,
  type Secrets,
} from '../../../src-main/node/secrets/index.ts'
import { phraseSlotKey } from '../../../src-main/node/secrets/recovery-phrase.ts'
import { openBox, type SealedBox } from '../../../src-main/node/secrets/sealed-box.ts'
import { fixedBytes, KeyHolder } from '../../helpers/key-holder.ts'
import { temporaryFolder } from '../../helpers/temporary-folder.ts'

const { aid } = new KeyHolder('a')
const seed = fixedBytes('recovery seed')
const keys = encodeCbor({ secret: fixedBytes('signing key') })
const passphrase = 'correct horse battery'
const ask = (given: string) => () => Promise.resolve(given)

async function made(kind: SecretStoreKind): Promise<{ dataDir: string; secrets: Secrets; keyFile: string }> {
  const dataDir = await temporaryFolder()
  const secrets = await createSecrets({ dataDir, kind, aid, keys, seed, passphrase: ask(passphrase) })
  return { dataDir, secrets, keyFile: join(dataDir, 'keys', 'keys.sealed') }
}

async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    if (isAnetError(error)) return error.code
    throw error
  }
}

describe('the store “file”', () => {
  it('opens without being asked anything, and warns', async () => {
    const { dataDir, secrets } = await made('file')
    const opened = await openSecrets({ dataDir })
    expect(opened.wrappingKey).toEqual(secrets.wrappingKey)
    expect(opened.wrappingKey.byteLength).toBe(32)
    expect(opened.keys).toEqual(keys)
    expect(opened.aid).toBe(aid)
    expect(opened.warning).toContain('plain files')
    expect(await describeSecrets(dataDir)).toEqual({ aid, kind: 'file' })
  })

  it('keeps its files to their owner', async () => {
    const { dataDir } = await made('file')
    const folder = join(dataDir, 'keys')
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
    const names = await readdir(folder)
    expect(names).toHaveLength(2)
    for (const name of names) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600)
  })

  it('says which key is missing, and which is another one', async () => {
    const { dataDir } = await made('file')
    const folder = join(dataDir, 'keys')
    const name = (await readdir(folder)).find((candidate) => candidate.startsWith('wrapping-')) ?? ''
    await writeFile(join(folder, name), fixedBytes('another key'))
    expect(await codeOf(openSecrets({ dataDir }))).toBe('secret_store_unavailable')
    await rm(join(folder, name))
    expect(await codeOf(openSecrets({ dataDir }))).toBe('key_file_damaged')
  })
})

describe('the store “passphrase”', () => {
  it('opens with the passphrase only', async () => {
    const { dataDir, secrets } = await made('passphrase')
    const opened = await openSecrets({ dataDir, passphrase: ask(passphrase) })
    expect(opened.wrappingKey).toEqual(secrets.wrappingKey)
    expect(opened.warning).toBeUndefined()
    expect(await codeOf(openSecrets({ dataDir, passphrase: ask('correct horse batterie') }))).toBe('passphrase_wrong')
    expect(await codeOf(openSecrets({ dataDir }))).toBe('passphrase_needed')
  })

  it('takes the same passphrase however its characters are composed', async () => {
    const dataDir = await temporaryFolder()
    await createSecrets({
      dataDir,
      kind: 'passphrase',
      aid,
      keys,
      seed,
      passphrase: ask('gr\u00fc\u00dfe aus k\u00f6ln'),
    })
    const opened = await openSecrets({ dataDir, passphrase: ask('gru\u0308\u00dfe aus ko\u0308ln') })
    expect(opened.keys).toEqual(keys)
  })

  it('comes from a private file, or from a descriptor', async () => {
    const { dataDir } = await made('passphrase')
    const path = join(dataDir, 'pass')
    await writeFile(path, `${passphrase}\nsecond line\n`, { mode: 0o600 })
    expect((await openSecrets({ dataDir, passphrase: passphraseFromFile(path) })).keys).toEqual(keys)
    const file = await open(path)
    expect((await openSecrets({ dataDir, passphrase: passphraseFromDescriptor(file.fd) })).keys).toEqual(keys)
    await file.close()
    await chmod(path, 0o644)
    expect(await codeOf(passphraseFromFile(path)())).toBe('file_open_to_others')
    expect(await codeOf(passphraseFromFile(join(dataDir, 'none'))())).toBe('passphrase_missing')
    expect(await codeOf(passphraseFromDescriptor(9999)())).toBe('passphrase_missing')
    await rm(path)
    await writeFile(path, '\n', { mode: 0o600 })
    expect(await codeOf(passphraseFromFile(path)())).toBe('passphrase_missing')
  })

  it('leaves nothing readable on the disk', async () => {
    const { dataDir, secrets } = await made('passphrase')
    const folder = join(dataDir, 'keys')
    for (const name of await readdir(folder)) {
      const bytes = await readFile(join(folder, name))
      for (const secret of [fixedBytes('signing key'), secrets.wrappingKey, seed, Buffer.from(passphrase)]) {
        expect(bytes.includes(Buffer.from(secret))).toBe(false)
      }
    }
  })
})

describe('the key file', () => {
  it('is replaced as a whole, the last one staying', async () => {
    const { dataDir, secrets } = await made('file')
    const versions = [1, 2, 3].map((version) => encodeCbor({ version }))
    await Promise.all(versions.map((version) => secrets.replaceKeys(version)))
    expect(secrets.keys).toEqual(versions[2])
    expect((await openSecrets({ dataDir })).keys).toEqual(versions[2])
    expect((await openSecrets({ dataDir })).wrappingKey).toEqual(secrets.wrappingKey)
    expect((await readdir(join(dataDir, 'keys'))).filter((name) => name.includes('tmp'))).toEqual([])
  })

  it('gives its wrapping key to whoever has the recovery phrase', async () => {
    const { secrets, keyFile } = await made('passphrase')
    const { phrase } = decodeCbor((await readFile(keyFile)).subarray(32), 1_000_000) as { phrase: SealedBox }
    expect(openBox(phraseSlotKey(seed), ['anet-keys/1', 'phrase', aid], phrase)).toEqual(secrets.wrappingKey)
    expect(openBox(phraseSlotKey(fixedBytes('other')), ['anet-keys/1', 'phrase', aid], phrase)).toBeUndefined()
  })

  it('is damaged after any change, and nothing is made in its place', async () => {
    const { dataDir, keyFile } = await made('file')
    const whole = await readFile(keyFile)
    const listing = await readdir(join(dataDir, 'keys'))
    const damaged: Buffer[] = [Buffer.alloc(0), whole.subarray(1), whole.subarray(0, -1), Buffer.alloc(whole.length)]
    for (let at = 0; at < whole.length; at += 7) {
      const flipped = Buffer.from(whole)
      flipped[at] = (flipped[at] ?? 0) ^ 0x10
      damaged.push(flipped)
    }
    for (const bytes of damaged) {
      await writeFile(keyFile, bytes)
      expect(await codeOf(openSecrets({ dataDir }))).toBe('key_file_damaged')
      expect(await codeOf(describeSecrets(dataDir))).toBe('key_file_damaged')
    }
    expect(await readdir(join(dataDir, 'keys'))).toEqual(listing)
    await writeFile(keyFile, whole)
    expect((await openSecrets({ dataDir })).keys).toEqual(keys)
  })

  it('too large to be one is damaged, unread', async () => {
    const { dataDir, keyFile } = await made('file')
    await writeFile(keyFile, Buffer.alloc(1024 * 1024))
    expect(await codeOf(openSecrets({ dataDir }))).toBe('key_file_damaged')
  })

  it('of another identity does not open in its place', async () => {
    const [one, other] = [await made('file'), await made('file')]
    await rename(other.keyFile, one.keyFile)
    expect(await codeOf(openSecrets({ dataDir: one.dataDir }))).toBe('key_file_damaged')
  })

  it('says what a person can put right: a link, rights', async () => {
    const { dataDir, keyFile } = await made('file')
    await chmod(keyFile, 0o640)
    expect(await codeOf(openSecrets({ dataDir }))).toBe('file_open_to_others')
    await chmod(keyFile, 0o600)
    await rename(keyFile, `${keyFile}.moved`)
    await symlink(`${keyFile}.moved`, keyFile)
    expect(await codeOf(openSecrets({ dataDir }))).toBe('file_symlink')
  })

  it('that is missing means: no identity yet, unless there is a database', async () => {
    const dataDir = await temporaryFolder()
    expect(await codeOf(openSecrets({ dataDir }))).toBe('not_initialised')
    expect(await describeSecrets(dataDir)).toBeUndefined()
    await writeFile(join(dataDir, 'node.db'), '')
    expect(await codeOf(openSecrets({ dataDir }))).toBe('key_file_damaged')
    expect(await codeOf(describeSecrets(dataDir))).toBe('key_file_damaged')
  })

  it('is never made over another one', async () => {
    const { dataDir, secrets } = await made('file')
    const again = createSecrets({ dataDir, kind: 'file', aid: new KeyHolder('b').aid, keys, seed })
    expect(await codeOf(again)).toBe('already_initialised')
    const opened = await openSecrets({ dataDir })
    expect([opened.aid, opened.wrappingKey]).toEqual([aid, secrets.wrappingKey])
  })
})
