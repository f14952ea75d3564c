import { copyFile, mkdir, open, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../helpers/temporary-folder.ts'
import { temporaryStore } from '../../helpers/temporary-store.ts'

const notes = { id: 'notes', sql: 'CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT) STRICT' }

/** A store with a few hundred pages, closed. */
async function filledStore(): Promise<string> {
  const store = await temporaryStore({ migrations: [notes] })
  await store.write((tx) => {
    for (let i = 0; i < 500; i += 1) tx.run('INSERT INTO notes (body) VALUES (?)', 'x'.repeat(1500))
  })
  await store.close()
  return store.dataDir
}

async function overwrite(path: string, offset: number, length: number): Promise<void> {
  const file = await open(path, 'r+')
  await file.write(Buffer.alloc(length, 0xa5), 0, length, offset)
  await file.close()
}

describe('a damaged database', () => {
  test('is found at the start after an end that was not clean, and nothing is overwritten', async () => {
    const dataDir = await filledStore()
    const path = join(dataDir, 'node.db')
    await overwrite(path, 40 * 4096, 4096)
    await writeFile(`${path}-open`, '', { mode: 0o600 })
    const before = await readFile(path)
    await expect(temporaryStore({ dataDir, migrations: [notes] })).rejects.toMatchObject({
      code: 'database_damaged',
      remedy: expect.stringContaining('backup'),
    })
    expect(Buffer.compare(await readFile(path), before)).toBe(0)
    await expect(temporaryStore({ dataDir, migrations: [notes] })).rejects.toMatchObject({ code: 'database_damaged' })
  })

  test('whose header is gone does not open', async () => {
    const dataDir = await filledStore()
    await overwrite(join(dataDir, 'node.db'), 0, 100)
    await expect(temporaryStore({ dataDir })).rejects.toMatchObject({ code: 'database_damaged' })
  })

  test('that shows only when it is read names itself, takes no more writes, and is checked at the next start', async () => {
    const dataDir = await filledStore()
    await overwrite(join(dataDir, 'node.db'), 40 * 4096, 4096)
    const damages: string[] = []
    const store = await temporaryStore({ dataDir, migrations: [notes], onDamage: ({ code }) => damages.push(code) })
    expect(() => store.read.get('SELECT sum(length(body)) FROM notes')).toThrow(
      expect.objectContaining({ code: 'database_damaged' }),
    )
    expect(damages).toEqual(['database_damaged'])
    expect(store.damage?.code).toBe('database_damaged')
    await expect(store.write((tx) => tx.run('DELETE FROM notes'))).rejects.toMatchObject({ code: 'database_damaged' })
    await store.close()
    await expect(temporaryStore({ dataDir, migrations: [notes] })).rejects.toMatchObject({ code: 'database_damaged' })
  })
})

describe('opening', () => {
  test('makes private files', async () => {
    const store = await temporaryStore()
    await store.write((tx) => store.evidence.append(tx, 'task.opened', {}))
    for (const name of ['node.db', 'node.db-wal', 'node.db-open']) {
      expect((await stat(join(store.dataDir, name))).mode & 0o777, name).toBe(0o600)
    }
    expect((await stat(join(store.dataDir, 'attachments'))).mode & 0o777).toBe(0o700)
  })

  test('an undamaged database after a crash goes on with what was committed', async () => {
    const store = await temporaryStore({ migrations: [notes] })
    await store.write((tx) => tx.run("INSERT INTO notes (body) VALUES ('kept')"))
    const dataDir = await temporaryFolder()
    for (const name of ['node.db', 'node.db-wal', 'node.db-open']) {
      await copyFile(join(store.dataDir, name), join(dataDir, name))
    }
    const after = await temporaryStore({ dataDir, migrations: [notes] })
    expect(after.read.all('SELECT body FROM notes')).toEqual([{ body: 'kept' }])
  })

  test('a database of a newer version is refused', async () => {
    const dataDir = await filledStore()
    await expect(temporaryStore({ dataDir })).rejects.toMatchObject({ code: 'database_newer' })
    await temporaryStore({ dataDir, migrations: [notes] })
  })

  test('a symbolic link in the place of the database is refused', async () => {
    const dataDir = await filledStore()
    await rename(join(dataDir, 'node.db'), join(dataDir, 'elsewhere.db'))
    await symlink('elsewhere.db', join(dataDir, 'node.db'))
    await expect(temporaryStore({ dataDir })).rejects.toMatchObject({ code: 'file_symlink' })
  })

  test('a symbolic link in the place of the attachments is refused', async () => {
    const dataDir = await temporaryFolder()
    await mkdir(join(dataDir, 'elsewhere'))
    await symlink('elsewhere', join(dataDir, 'attachments'))
    await expect(temporaryStore({ dataDir })).rejects.toMatchObject({ code: 'data_dir_symlink' })
  })
})
