import { describe, expect, test } from 'vitest'
import type { Tx } from '../../../src-shared/sql/index.ts'
import { openSqlite } from '../../../src-main/node/store/sqlite.ts'
import { temporaryDatabase } from '../../helpers/temporary-database.ts'

const items = { id: 'items', sql: 'CREATE TABLE items (name TEXT PRIMARY KEY) STRICT' }
const names = 'SELECT name FROM items ORDER BY rowid'
const mayWait = { mayWait: true }

/** A database whose patience ends when the test says so, and how often it committed. */
async function desk() {
  const timers: (() => void)[] = []
  const { database, path } = await temporaryDatabase([items], { delay: (run) => timers.push(run) })
  const witness = await openSqlite(path)
  const committed = (): unknown[] => (witness.prepare(names).all() as { name: string }[]).map(({ name }) => name)
  const insert = (name: string) => (tx: Tx) => {
    tx.run('INSERT INTO items VALUES (?)', name)
    tx.afterCommit(() => seen.push(committed()))
  }
  const seen: unknown[] = []
  return { database, timers, seen, insert, committed, close: () => witness.close() }
}

describe('a write that may wait', () => {
  test('shares the commit of the next one, and comes before it', async () => {
    const { database, seen, insert, close } = await desk()
    const patient = database.write(insert('patient'), mayWait)
    await Promise.all([patient, database.write(insert('next'))])
    expect(seen).toEqual([
      ['patient', 'next'],
      ['patient', 'next'],
    ])
    close()
  })

  test('is committed on its own when nothing comes', async () => {
    const { database, timers, insert, committed, close } = await desk()
    const patient = database.write(insert('patient'), mayWait)
    expect(timers).toHaveLength(1)
    expect(committed()).toEqual([])
    timers.shift()?.()
    await patient
    expect(committed()).toEqual(['patient'])
    close()
  })

  test('does nothing when its time comes after it was committed', async () => {
    const { database, timers, insert, committed, close } = await desk()
    const patient = database.write(insert('patient'), mayWait)
    await Promise.all([patient, database.write(insert('next'))])
    timers.shift()?.()
    const later = database.write(insert('later'), mayWait)
    timers.shift()?.()
    await later
    expect(committed()).toEqual(['patient', 'next', 'later'])
    close()
  })

  test('waits no longer when there are several', async () => {
    const { database, insert, committed, close } = await desk()
    await Promise.all(['a', 'b', 'c', 'd'].map((name) => database.write(insert(name), mayWait)))
    expect(committed()).toEqual(['a', 'b', 'c', 'd'])
    close()
  })

  test('is written before the database closes', async () => {
    const { database, insert, committed, close } = await desk()
    const patient = database.write(insert('patient'), mayWait)
    await database.close()
    await patient
    expect(committed()).toEqual(['patient'])
    close()
  })

  test('that fails undoes nothing of the write that it shares a commit with', async () => {
    const { database, insert, committed, close } = await desk()
    const failing = database.write(() => {
      throw new Error('a mistake')
    }, mayWait)
    const next = database.write(insert('next'))
    await expect(failing).rejects.toThrow('a mistake')
    await next
    expect(committed()).toEqual(['next'])
    close()
  })
})
