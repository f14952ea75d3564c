import { join } from 'node:path'
import { expect, test } from 'vitest'
import { migrate } from '../../../src-shared/sql/index.ts'
import { openSqlite } from '../../../src-main/node/store/sqlite.ts'
import { temporaryFolder } from '../../helpers/temporary-folder.ts'

const one = { id: 'one', sql: 'CREATE TABLE one (a INTEGER); INSERT INTO one VALUES (1)' }
const two = { id: 'two', sql: 'ALTER TABLE one ADD COLUMN b INTEGER DEFAULT 2' }
const broken = { id: 'broken', sql: 'CREATE TABLE half (a INTEGER); INSERT INTO nowhere VALUES (1)' }

async function open() {
  return await openSqlite(join(await temporaryFolder(), 'test.db'))
}

test('migrations run once, and new ones later', async () => {
  const handle = await open()
  migrate(handle, [one])
  migrate(handle, [one])
  migrate(handle, [one, two])
  expect(handle.prepare('SELECT a, b FROM one').all()).toEqual([{ a: 1, b: 2 }])
  handle.close()
})

test('a migration that fails leaves nothing of itself, and what came before it stays', async () => {
  const handle = await open()
  expect(() => migrate(handle, [one, broken])).toThrow('nowhere')
  expect(handle.prepare("SELECT name FROM sqlite_schema WHERE name IN ('one', 'half')").all()).toEqual([
    { name: 'one' },
  ])
  migrate(handle, [one, two])
  handle.close()
})

test('a database of a newer version is refused and not touched', async () => {
  const handle = await open()
  migrate(handle, [one, two])
  expect(() => migrate(handle, [one, { id: 'other', sql: 'CREATE TABLE other (a INTEGER)' }])).toThrow(
    expect.objectContaining({ code: 'database_newer', message: expect.stringContaining('"two"') }),
  )
  expect(handle.prepare("SELECT name FROM sqlite_schema WHERE name = 'other'").all()).toEqual([])
  handle.close()
})

test('two migrations with one id are a mistake that shows at once', async () => {
  const handle = await open()
  expect(() => migrate(handle, [one, one])).toThrow('same id')
  handle.close()
})
