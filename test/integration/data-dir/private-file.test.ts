import { execFileSync } from 'node:child_process'
import { chmod, chown, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  createPrivateFile,
  readPrivateFile,
  removePrivateFile,
  writePrivateFile,
} from '../../../src-main/node/data-dir/index.ts'
import { temporaryFolder } from '../../helpers/temporary-folder.ts'

const isRoot = process.getuid?.() === 0
let folder: string
let path: string

beforeEach(async () => {
  folder = await temporaryFolder()
  path = join(folder, 'token.txt')
})

describe('reading', () => {
  const read = () => readPrivateFile(path, { maxBytes: 16 })

  test('gives the bytes, and nothing where there is nothing', async () => {
    expect(await read()).toBeUndefined()
    await writePrivateFile(path, 'secret')
    expect((await read())?.toString()).toBe('secret')
    await writePrivateFile(path, '')
    expect((await read())?.length).toBe(0)
  })

  test('stops at the bound', async () => {
    await writePrivateFile(path, 'x'.repeat(16))
    expect((await read())?.length).toBe(16)
    await writePrivateFile(path, 'x'.repeat(17))
    await expect(read()).rejects.toMatchObject({ code: 'file_too_large', message: expect.stringContaining(path) })
  })

  test('follows no symbolic link', async () => {
    await writePrivateFile(join(folder, 'other'), 'secret')
    await symlink('other', path)
    await expect(read()).rejects.toMatchObject({ code: 'file_symlink' })
  })

  test.each([0o640, 0o604, 0o620])('refuses a secret that others can use (%o)', async (mode) => {
    await writeFile(path, 'secret')
    await chmod(path, mode)
    await expect(read()).rejects.toMatchObject({
      code: 'file_open_to_others',
      remedy: expect.stringContaining('chmod 600'),
    })
  })

  test('lets others look at what is no secret, but not write it', async () => {
    await writeFile(path, '{}')
    await chmod(path, 0o644)
    expect((await readPrivateFile(path, { maxBytes: 16, readableByOthers: true }))?.toString()).toBe('{}')
    await chmod(path, 0o664)
    await expect(readPrivateFile(path, { maxBytes: 16, readableByOthers: true })).rejects.toMatchObject({
      code: 'file_open_to_others',
    })
  })

  test.runIf(isRoot)('refuses a file of somebody else', async () => {
    await writePrivateFile(path, 'secret')
    await chown(path, 12345, 12345)
    await expect(read()).rejects.toMatchObject({ code: 'file_foreign_owner' })
  })

  test('refuses what is no regular file, without waiting', async () => {
    execFileSync('mkfifo', ['-m', '600', path])
    await expect(read()).rejects.toMatchObject({ code: 'file_not_regular' })
    await mkdir(join(folder, 'directory'), { mode: 0o700 })
    await expect(readPrivateFile(join(folder, 'directory'), { maxBytes: 16 })).rejects.toMatchObject({
      code: 'file_not_regular',
    })
  })
})

describe('writing', () => {
  test('replaces the whole file, for the owner alone, and leaves nothing else', async () => {
    await writeFile(path, 'an older and longer content')
    await chmod(path, 0o644)
    await writePrivateFile(path, 'new')
    expect(await readFile(path, 'utf8')).toBe('new')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(await readdir(folder)).toEqual(['token.txt'])
  })

  test('never writes through a symbolic link', async () => {
    const other = join(folder, 'other')
    await writeFile(other, 'untouched')
    await symlink('other', path)
    await expect(writePrivateFile(path, 'new')).rejects.toMatchObject({ code: 'file_symlink' })
    expect(await createPrivateFile(path, 'new')).toBe(false)
    expect(await readFile(other, 'utf8')).toBe('untouched')
  })

  test('that fails keeps what was there and leaves nothing half-written', async () => {
    const inTheWay = join(folder, 'directory')
    await mkdir(inTheWay)
    await expect(writePrivateFile(inTheWay, 'new')).rejects.toThrow()
    expect(await readdir(folder)).toEqual(['directory'])
  })

  test('creates only what is not there', async () => {
    expect(await createPrivateFile(path, 'first')).toBe(true)
    expect(await createPrivateFile(path, 'second')).toBe(false)
    expect(await readFile(path, 'utf8')).toBe('first')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(await readdir(folder)).toEqual(['token.txt'])
  })

  test('of many at once lets one create', async () => {
    const results = await Promise.all(Array.from({ length: 20 }, (_, n) => createPrivateFile(path, String(n))))
    expect(results.filter(Boolean)).toHaveLength(1)
    expect(await readFile(path, 'utf8')).toBe(String(results.indexOf(true)))
  })

  test('removes, and minds no file that is gone', async () => {
    await writePrivateFile(path, 'x')
    await removePrivateFile(path)
    await removePrivateFile(path)
    expect(await readdir(folder)).toEqual([])
  })
})
