import { chmod, chown, mkdir, stat, symlink, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { dataDirectory, privateDirectory } from '../../../src-main/node/data-dir/index.ts'
import { temporaryFolder } from '../../helpers/temporary-folder.ts'

const isRoot = process.getuid?.() === 0

test('the data directory is the one named, else of the environment, else ~/.anet', () => {
  expect(dataDirectory('/a/b', { ANET_DATA_DIR: '/c' })).toBe('/a/b')
  expect(dataDirectory(undefined, { ANET_DATA_DIR: '/c' })).toBe('/c')
  expect(dataDirectory(undefined, { ANET_DATA_DIR: 'relative' })).toBe(join(process.cwd(), 'relative'))
  expect(dataDirectory(undefined, { ANET_DATA_DIR: '' })).toBe(join(homedir(), '.anet'))
  expect(dataDirectory(undefined, {})).toBe(join(homedir(), '.anet'))
})

describe('a private directory', () => {
  test('is made with its parents, for its owner alone', async () => {
    const path = join(await temporaryFolder(), 'some', 'where')
    await privateDirectory(path)
    expect((await stat(path)).mode & 0o777).toBe(0o700)
    await privateDirectory(path)
  })

  test('that is empty is closed to others', async () => {
    const path = join(await temporaryFolder(), 'made-by-hand')
    await mkdir(path)
    await chmod(path, 0o755)
    await privateDirectory(path)
    expect((await stat(path)).mode & 0o777).toBe(0o700)
  })

  test.each([
    ['group may write', 0o770],
    ['everybody may write', 0o777],
    ['others may look', 0o755],
  ])('in use into which others can come is refused with the command that closes it: %s', async (_, mode) => {
    const path = await temporaryFolder()
    await writeFile(join(path, 'config.json'), '{}')
    await chmod(path, mode)
    await expect(privateDirectory(path)).rejects.toMatchObject({
      code: 'data_dir_open_to_others',
      message: expect.stringContaining(mode.toString(8)),
      remedy: expect.stringContaining(`chmod 700 '${path}'`),
    })
    expect((await stat(path)).mode & 0o777).toBe(mode)
  })

  test('is no symbolic link, not even a broken one', async () => {
    const folder = await temporaryFolder()
    await mkdir(join(folder, 'real'), { mode: 0o700 })
    await symlink(join(folder, 'real'), join(folder, 'link'))
    await symlink(join(folder, 'nowhere'), join(folder, 'broken'))
    for (const name of ['link', 'broken']) {
      await expect(privateDirectory(join(folder, name))).rejects.toMatchObject({
        code: 'data_dir_symlink',
        remedy: expect.stringContaining('ANET_DATA_DIR'),
      })
    }
  })

  test('is no file', async () => {
    const path = join(await temporaryFolder(), 'file')
    await writeFile(path, '')
    await expect(privateDirectory(path)).rejects.toMatchObject({ code: 'data_dir_not_a_directory' })
  })

  test.runIf(isRoot)('belongs to whoever runs the node', async () => {
    const path = await temporaryFolder()
    await chown(path, 12345, 12345)
    await expect(privateDirectory(path)).rejects.toMatchObject({
      code: 'data_dir_foreign_owner',
      remedy: expect.stringContaining('ANET_DATA_DIR'),
    })
  })

  test.runIf(process.platform === 'linux')('that cannot be made is named', async () => {
    // file systems of the kernel: nobody, root included, makes anything there
    await expect(privateDirectory('/sys/anet')).rejects.toMatchObject({ code: 'data_dir_read_only' })
    await expect(privateDirectory('/proc/anet/data')).rejects.toMatchObject({ code: 'data_dir_missing' })
    const file = join(await temporaryFolder(), 'file')
    await writeFile(file, '')
    await expect(privateDirectory(join(file, 'data'))).rejects.toMatchObject({ code: 'data_dir_missing' })
  })
})
