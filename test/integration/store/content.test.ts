import { readFile, readdir, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inlineLimit } from '../../../src-main/node/store/index.ts'
import { temporaryFolder } from '../../helpers/temporary-folder.ts'
import { temporaryStore } from '../../helpers/temporary-store.ts'

const place = { table: 'task_messages', id: 'bafy/1', column: 'body' }
const words = new TextEncoder().encode('what a person wrote')
const notes = {
  id: 'notes',
  sql: 'CREATE TABLE notes (id TEXT PRIMARY KEY, body BLOB, file TEXT) STRICT',
}

describe('sealed content', () => {
  test('opens where it was sealed, also after a restart', async () => {
    const dataDir = await temporaryFolder()
    const store = await temporaryStore({ dataDir })
    const sealed = store.content.seal(place, words)
    const json = store.content.sealJson(place, { text: 'ö', n: [1, null] })
    await store.close()
    const again = await temporaryStore({ dataDir })
    expect(new Uint8Array(again.content.open(place, sealed))).toEqual(words)
    expect(again.content.openJson(place, json)).toEqual({ text: 'ö', n: [1, null] })
  })

  test('is different each time and shows nothing', async () => {
    const { content } = await temporaryStore()
    const one = content.seal(place, words)
    expect(one).not.toEqual(content.seal(place, words))
    expect(Buffer.from(one).includes('person')).toBe(false)
  })

  test.each([
    ['table', { ...place, table: 'task_artifacts' }],
    ['row', { ...place, id: 'bafy/2' }],
    ['column', { ...place, column: 'title' }],
    ['place that reads alike', { table: 'task_messages', id: '/1', column: 'bodybafy' }],
  ])('moved to another %s does not open', async (_, other) => {
    const { content } = await temporaryStore()
    const sealed = content.seal(place, words)
    expect(() => content.open(other, sealed)).toThrow(expect.objectContaining({ code: 'database_damaged' }))
  })

  test.each([
    ['changed in one bit', (sealed: Uint8Array) => sealed.with(20, (sealed[20] ?? 0) ^ 1)],
    ['cut', (sealed: Uint8Array) => sealed.subarray(0, -1)],
    ['empty', () => new Uint8Array(0)],
    ['of an unknown format', (sealed: Uint8Array) => sealed.with(0, 9)],
  ])('that is %s does not open, and the store writes no more', async (_, alter) => {
    const damages: string[] = []
    const store = await temporaryStore({ onDamage: ({ code }) => damages.push(code) })
    const sealed = alter(store.content.seal(place, words))
    expect(store.damage).toBeUndefined()
    expect(() => store.content.open(place, sealed)).toThrow(
      expect.objectContaining({ code: 'database_damaged', remedy: expect.stringContaining('newest backup') }),
    )
    expect(damages).toEqual(['database_damaged'])
    expect(store.damage?.code).toBe('database_damaged')
    await expect(store.write(() => 1)).rejects.toMatchObject({ code: 'database_damaged' })
  })

  test('over the limit of a row is refused', async () => {
    const { content } = await temporaryStore()
    content.seal(place, new Uint8Array(inlineLimit))
    expect(() => content.seal(place, new Uint8Array(inlineLimit + 1))).toThrow(
      expect.objectContaining({ code: 'content_too_large' }),
    )
  })

  test('needs the key it was sealed with: another one is not mistaken for damage', async () => {
    const store = await temporaryStore()
    await store.close()
    const other = temporaryStore({ dataDir: store.dataDir, wrappingKey: new Uint8Array(32).fill(8) })
    await expect(other).rejects.toMatchObject({ code: 'database_key_mismatch' })
    await temporaryStore({ dataDir: store.dataDir })
  })

  test('leaves no words in any file of the data directory', async () => {
    const store = await temporaryStore({ migrations: [notes] })
    const file = await store.content.putFile(Buffer.from('what a person wrote '.repeat(20_000)))
    await store.write((tx) => {
      store.content.keepFile(tx, file)
      tx.run('INSERT INTO notes VALUES (?, ?, ?)', 'n', store.content.seal(place, words), file.name)
    })
    const files = await readdir(store.dataDir, { recursive: true, withFileTypes: true })
    const contents = await Promise.all(
      files.filter((entry) => entry.isFile()).map((entry) => readFile(join(entry.parentPath, entry.name))),
    )
    expect(contents.length).toBeGreaterThan(2)
    for (const bytes of contents) expect(bytes.includes('person wrote')).toBe(false)
  })
})

describe('sealed files', () => {
  const large = Buffer.alloc(3 * 1024 * 1024, 'a large attachment ')

  test('come back as they were put, and carry their digest', async () => {
    const { content } = await temporaryStore()
    const ref = await content.putFile(large)
    expect(ref).toMatchObject({ size: large.length, name: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect(Buffer.compare(await content.getFile(ref), large)).toBe(0)
    const empty = await content.putFile(new Uint8Array(0))
    expect(await content.getFile(empty)).toEqual(new Uint8Array(0))
  })

  test('that are kept stay over a restart, the others go', async () => {
    const store = await temporaryStore()
    const kept = await store.content.putFile(large)
    const orphan = await store.content.putFile(large)
    const undone = await store.content.putFile(large)
    await store.write((tx) => store.content.keepFile(tx, kept))
    await store
      .write((tx) => {
        store.content.keepFile(tx, undone)
        throw new Error('rolled back')
      })
      .catch(() => undefined)
    const halfWritten = 'ab'.repeat(32)
    await writeFile(join(store.dataDir, 'attachments', halfWritten), large.subarray(0, 1000))
    await writeFile(join(store.dataDir, 'attachments', 'somebody.txt'), 'not ours')
    expect(new Uint8Array(await store.content.getFile(orphan)).length).toBe(large.length)
    await store.close()

    const again = await temporaryStore({ dataDir: store.dataDir })
    expect((await readdir(join(store.dataDir, 'attachments'))).toSorted()).toEqual(
      [kept.name, 'somebody.txt'].toSorted(),
    )
    expect((await again.content.getFile(kept)).length).toBe(large.length)
  })

  test('go with the last row that refers to them', async () => {
    const store = await temporaryStore()
    const { content } = store
    const ref = await content.putFile(large)
    await store.write((tx) => content.keepFile(tx, ref))
    await store.write((tx) => content.keepFile(tx, ref))
    await content.deleteFile(ref.name)
    expect((await content.getFile(ref)).length).toBe(large.length)
    await content.deleteFile(ref.name)
    expect(await readdir(join(store.dataDir, 'attachments'))).toEqual([])
    await content.deleteFile(ref.name)
  })

  test.each([
    ['missing', async () => undefined],
    ['cut', async (bytes: Buffer) => bytes.subarray(0, 100)],
    ['changed', async (bytes: Buffer) => bytes.fill(0, 1000, 1001)],
  ])('that are %s are named as damage', async (what, alter) => {
    const store = await temporaryStore()
    const ref = await store.content.putFile(large)
    await store.write((tx) => store.content.keepFile(tx, ref))
    const path = join(store.dataDir, 'attachments', ref.name)
    const altered = await alter(await readFile(path))
    if (altered === undefined) await unlink(path)
    else await writeFile(path, altered)
    await expect(store.content.getFile(ref), what).rejects.toMatchObject({
      code: 'database_damaged',
      message: expect.stringContaining(ref.name),
    })
    expect(store.damage?.code).toBe('database_damaged')
  })

  test('that nothing refers to any more are gone, which is no damage', async () => {
    const store = await temporaryStore()
    const ref = await store.content.putFile(large)
    await store.write((tx) => store.content.keepFile(tx, ref))
    await store.content.deleteFile(ref.name)
    await expect(store.content.getFile(ref)).rejects.toMatchObject({ code: 'content_gone' })
    expect(store.damage).toBeUndefined()
    await store.write(() => undefined)
  })

  test('answer to no name that is not theirs', async () => {
    const { content } = await temporaryStore()
    await expect(content.deleteFile('../node.db')).rejects.toThrow('not the name of a content file')
    const ref = { name: '../node.db', key: 'AAAA', size: 1, sha256: '' }
    await expect(content.getFile(ref)).rejects.toMatchObject({ code: 'database_damaged' })
  })
})
