import { describe, expect, test } from 'vitest'
import { AnetError } from '../../../src-shared/errors.ts'
import type { Tx } from '../../../src-shared/sql/index.ts'
import { openSqlite } from '../../../src-main/node/store/sqlite.ts'
import { temporaryDatabase } from '../../helpers/temporary-database.ts'

const items = { id: 'items', sql: 'CREATE TABLE items (name TEXT PRIMARY KEY, size INTEGER) STRICT' }
const insert =
  (name: string, size = 1) =>
  (tx: Tx) =>
    tx.run('INSERT INTO items VALUES (?, ?)', name, size).changes
const names = 'SELECT name FROM items ORDER BY name'

describe('queued transactions', () => {
  test('that wait together share one commit', async () => {
    const { database, path } = await temporaryDatabase([items])
    const witness = await openSqlite(path)
    const seen: unknown[] = []
    const watched = (name: string) => (tx: Tx) => {
      tx.afterCommit(() => seen.push(witness.prepare('SELECT count(*) AS n FROM items').get()))
      return insert(name)(tx)
    }
    const all = [database.write(watched('a')), database.write(watched('b')), database.write(watched('c'))]
    expect(database.read.all(names)).toEqual([])
    expect(await Promise.all(all)).toEqual([1, 1, 1])
    expect(seen).toEqual([{ n: 3 }, { n: 3 }, { n: 3 }])
    witness.close()
  })

  test('that fail undo themselves and nothing of the others', async () => {
    const { database } = await temporaryDatabase([items])
    const mistake = new Error('a mistake')
    const results = await Promise.allSettled([
      database.write(insert('first')),
      database.write((tx) => {
        tx.run('INSERT INTO items VALUES (?, ?)', 'half done', 1)
        throw mistake
      }),
      database.write(insert('first')),
      database.write(insert('last')),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
    expect(results[1]).toMatchObject({ reason: mistake })
    expect(database.read.all(names)).toEqual([{ name: 'first' }, { name: 'last' }])
  })

  test('that fail alone leave nothing behind, and the next one works', async () => {
    const { database } = await temporaryDatabase([items])
    const failing = database.write((tx) => {
      tx.run('INSERT INTO items VALUES (?, ?)', 'half done', 1)
      throw new Error('a mistake')
    })
    await expect(failing).rejects.toThrow('a mistake')
    await database.write(insert('next'))
    expect(database.read.all(names)).toEqual([{ name: 'next' }])
  })

  test('see what those before them wrote', async () => {
    const { database } = await temporaryDatabase([items])
    void database.write(insert('a'))
    expect(await database.write((tx) => tx.all(names))).toEqual([{ name: 'a' }])
  })

  test('beyond one batch are all done, in order', async () => {
    const { database } = await temporaryDatabase([items])
    const order: number[] = []
    await Promise.all(
      Array.from({ length: 1000 }, (_, n) =>
        database.write((tx) => {
          tx.run('INSERT INTO items VALUES (?, ?)', String(n), n)
          order.push(n)
        }),
      ),
    )
    expect(order).toEqual(Array.from({ length: 1000 }, (_, n) => n))
    expect(database.read.get('SELECT count(*) AS n FROM items')).toEqual({ n: 1000 })
  })

  test('refuse a work that would go on after the commit, and a use of the transaction after its end', async () => {
    const { database } = await temporaryDatabase([items])
    await expect(database.write(async (tx) => tx.run('INSERT INTO items VALUES (?, ?)', 'a', 1))).rejects.toThrow(
      'synchronous',
    )
    const kept = await database.write((tx) => ({ tx }))
    expect(() => kept.tx.run('INSERT INTO items VALUES (?, ?)', 'b', 1)).toThrow('has ended')
    expect(database.read.all(names)).toEqual([])
  })
})

describe('announcements', () => {
  test('run after the commit and before the results, in order of registration', async () => {
    const { database, handle } = await temporaryDatabase([items])
    const seen: string[] = []
    const announcing = (name: string) => (tx: Tx) => {
      tx.run('INSERT INTO items VALUES (?, ?)', name, 1)
      tx.afterCommit(() => {
        // a transaction inside a transaction is an error: this one says that the commit is over
        handle.exec('BEGIN; COMMIT')
        seen.push(`${name} announced`)
      })
    }
    await Promise.all([
      database.write(announcing('a')).then(() => seen.push('a resolved')),
      database.write(announcing('b')).then(() => seen.push('b resolved')),
    ])
    expect(seen).toEqual(['a announced', 'b announced', 'a resolved', 'b resolved'])
  })

  test('of a failed work are never made', async () => {
    const { database } = await temporaryDatabase([items])
    const seen: string[] = []
    await Promise.allSettled([
      database.write((tx) => tx.afterCommit(() => seen.push('good'))),
      database.write((tx) => {
        tx.afterCommit(() => seen.push('bad'))
        throw new Error('a mistake')
      }),
      database.write((tx) => tx.afterCommit(() => seen.push('good too'))),
    ])
    expect(seen).toEqual(['good', 'good too'])
  })

  test('that throw disturb neither the others nor the results', async () => {
    const errors: unknown[] = []
    const { database } = await temporaryDatabase([items], { onCallbackError: (error) => errors.push(error) })
    const seen: string[] = []
    await database.write((tx) => {
      tx.afterCommit(() => {
        throw new Error('a listener failed')
      })
      tx.afterCommit(() => seen.push('told'))
    })
    expect(seen).toEqual(['told'])
    expect(errors).toEqual([new Error('a listener failed')])
  })

  test('may write again', async () => {
    const { database } = await temporaryDatabase([items])
    let second: Promise<number> | undefined
    await database.write((tx) =>
      tx.afterCommit(() => {
        second = database.write(insert('second'))
      }),
    )
    expect(await second).toBe(1)
  })
})

describe('a disk that is full', () => {
  test('refuses every work of the commit by name, announces nothing, and works again with room', async () => {
    const { database, handle } = await temporaryDatabase([items])
    await database.write(insert('before'))
    const pages = (handle.prepare('PRAGMA page_count').get() as { page_count: number }).page_count
    handle.exec(`PRAGMA max_page_count = ${pages}`)
    const seen: string[] = []
    const large = 'x'.repeat(100_000)
    const results = await Promise.allSettled([
      database.write((tx) => {
        tx.run('INSERT INTO items VALUES (?, ?)', 'small', 1)
        tx.afterCommit(() => seen.push('announced'))
      }),
      database.write(insert(large)),
      database.write(insert('after')),
    ])
    for (const result of results) expect(result).toMatchObject({ reason: { code: 'disk_full' } })
    expect(seen).toEqual([])
    expect(database.read.all(names)).toEqual([{ name: 'before' }])

    handle.exec('PRAGMA max_page_count = 1000000')
    await Promise.all([database.write(insert(large)), database.write(insert('after'))])
    expect(database.read.get('SELECT count(*) AS n FROM items')).toEqual({ n: 3 })
  })

  test('has a remedy', async () => {
    const { database, handle } = await temporaryDatabase([items])
    handle.exec('PRAGMA max_page_count = 1')
    const error: unknown = await database.write(insert('x'.repeat(100_000))).catch((refused: unknown) => refused)
    expect(error).toBeInstanceOf(AnetError)
    expect(error).toMatchObject({ remedy: expect.stringContaining('Free some space') })
  })
})

test('a database that may not be written says so', async () => {
  const { database, handle } = await temporaryDatabase([items])
  handle.exec('PRAGMA query_only = ON')
  await expect(database.write(insert('a'))).rejects.toMatchObject({ code: 'database_read_only' })
})

describe('closing', () => {
  test('waits for what is queued, then refuses writes and reads', async () => {
    const { database } = await temporaryDatabase([items])
    const queued = [database.write(insert('a')), database.write(insert('b'))]
    await database.close()
    expect(await Promise.all(queued)).toEqual([1, 1])
    await expect(database.write(insert('c'))).rejects.toMatchObject({ code: 'database_closed' })
    expect(() => database.read.all(names)).toThrow('has been closed')
    await database.close()
  })
})
