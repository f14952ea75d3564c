import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { lstat, mkdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { readFileParts, writeNewFile } from '../../../src-main/node/api/files.ts'
import { temporaryDirectory } from '../../helpers/temporary-hub.ts'

const MiB = 1024 * 1024
let folder: string
beforeEach(async () => {
  folder = await temporaryDirectory()
})

describe('files to send', () => {
  test('are read whole, with their names and media types', async () => {
    const bytes = Buffer.alloc(3 * MiB, 'anet')
    await writeFile(join(folder, 'a.pdf'), bytes)
    const [part] = await readFileParts([join(folder, 'a.pdf')])
    expect(part).toMatchObject({ filename: 'a.pdf', mediaType: 'application/pdf' })
    expect(Buffer.from(part?.raw ?? '', 'base64').equals(bytes)).toBe(true)
  })

  test('of exactly 64 MiB are read, larger ones are refused', async () => {
    const path = join(folder, 'large')
    await writeFile(path, '')
    await truncate(path, 64 * MiB)
    expect(await readFileParts([path])).toHaveLength(1)
    await truncate(path, 64 * MiB + 1)
    await expect(readFileParts([path])).rejects.toMatchObject({ code: 'part_too_large' })
  })

  // a file of the kernel: it has no size and does not end
  test.runIf(existsSync('/proc/self/pagemap'))('that do not end are given up at 64 MiB', async () => {
    await expect(readFileParts(['/proc/self/pagemap'])).rejects.toMatchObject({ code: 'part_too_large' })
    await expect(readFileParts(['/proc/self/mem'])).rejects.toMatchObject({ code: 'file_not_readable' })
  })

  test('that are pipes, devices or folders are refused at once', async () => {
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    for (const path of [pipe, folder, '/dev/zero']) {
      await expect(readFileParts([path])).rejects.toMatchObject({ code: 'not_a_regular_file' })
    }
    await expect(readFileParts(['relative'])).rejects.toMatchObject({ code: 'path_not_absolute' })
    for (const path of [join(folder, 'missing'), join(folder, 'zero\0')]) {
      await expect(readFileParts([path])).rejects.toMatchObject({ code: 'file_not_readable' })
    }
  })
})

describe('files to save', () => {
  test('replace nothing, and with overwrite a regular file', async () => {
    const path = join(folder, 'a')
    await writeNewFile(path, Buffer.from('one'), false)
    await expect(writeNewFile(path, Buffer.from('two'), false)).rejects.toMatchObject({ code: 'file_exists' })
    expect(await readFile(path, 'utf8')).toBe('one')
    await writeNewFile(path, Buffer.from('three'), true)
    expect(await readFile(path, 'utf8')).toBe('three')
    expect((await lstat(path)).mode & 0o777).toBe(0o600)
  })

  test('never replace a pipe, a link or a folder', async () => {
    const [pipe, link, inner] = [join(folder, 'pipe'), join(folder, 'link'), join(folder, 'inner')]
    execFileSync('mkfifo', [pipe])
    await symlink(join(folder, 'target'), link)
    await mkdir(inner)
    for (const path of [pipe, link, inner]) {
      await expect(writeNewFile(path, Buffer.from('x'), true)).rejects.toMatchObject({ code: 'not_a_regular_file' })
      await expect(writeNewFile(path, Buffer.from('x'), false)).rejects.toMatchObject({ code: 'file_exists' })
    }
    expect((await lstat(pipe)).isFIFO()).toBe(true)
    expect((await lstat(link)).isSymbolicLink()).toBe(true)
    expect(existsSync(join(folder, 'target'))).toBe(false)
  })
})
