import { describe, expect, test } from 'vitest'
import { join } from 'node:path'
import { isCid } from '../../../src-shared/wire/index.ts'
import { openSqlite } from '../../../src-main/node/store/sqlite.ts'
import { steeredClock, temporaryStore } from '../../helpers/temporary-store.ts'

const task = { requester: 'bafyrequester', id: 'task-1' }

async function storeWithRecords(n: number) {
  const store = await temporaryStore()
  for (let i = 1; i <= n; i += 1) {
    await store.write((tx) => store.evidence.append(tx, 'task.opened', { size: i }, { ...task, id: `task-${i}` }))
  }
  return store
}

describe('the evidence chain', () => {
  test('is empty at first', async () => {
    const { evidence } = await temporaryStore()
    expect(evidence.head()).toBeNull()
    expect(evidence.verify()).toEqual({ ok: true, records: 0, head: null, brokenAt: null })
  })

  test('links each record to the one before, over a restart too', async () => {
    const store = await storeWithRecords(3)
    const head = store.evidence.head()
    expect(isCid(head ?? '')).toBe(true)
    await store.close()
    const again = await temporaryStore({ dataDir: store.dataDir })
    expect(again.evidence.head()).toBe(head)
    const next = await again.write((tx) => again.evidence.append(tx, 'task.completed', {}, task))
    expect(again.evidence.verify()).toEqual({ ok: true, records: 4, head: next, brokenAt: null })
  })

  test('finds the records of a task, in order, as they were written', async () => {
    const clock = steeredClock()
    const store = await temporaryStore({ clock })
    await store.write((tx) => {
      store.evidence.append(tx, 'task.opened', { size: 12, cid: 'bafy', urgent: true, reason: null }, task)
      store.evidence.append(tx, 'task.opened', {}, { ...task, requester: 'another' })
      store.evidence.append(tx, 'policy.changed', {})
    })
    clock.time += 5
    const last = await store.write((tx) => store.evidence.append(tx, 'task.completed', {}, task))
    expect(store.evidence.ofTask(task)).toEqual([
      {
        seq: 1,
        at: clock.time - 5,
        kind: 'task.opened',
        data: { size: 12, cid: 'bafy', urgent: true, reason: null },
        cid: expect.stringMatching(/^bafyrei/),
      },
      { seq: 4, at: clock.time, kind: 'task.completed', data: {}, cid: last },
    ])
  })

  test('leaves no gap where works of one commit are rolled back', async () => {
    const store = await storeWithRecords(1)
    const appending = (fails: boolean) =>
      store.write((tx) => {
        store.evidence.append(tx, 'task.accepted', {}, task)
        store.evidence.append(tx, 'task.completed', {}, task)
        if (fails) throw new Error('rolled back')
      })
    const results = await Promise.allSettled([appending(true), appending(false), appending(true), appending(false)])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled'])
    expect(store.evidence.verify()).toMatchObject({ ok: true, records: 5 })
    await appending(true).catch(() => undefined)
    await appending(false)
    expect(store.evidence.verify()).toMatchObject({ ok: true, records: 7 })
  })

  test('shows its head inside the transaction that appends', async () => {
    const store = await storeWithRecords(1)
    await store.write((tx) => {
      const cid = store.evidence.append(tx, 'task.accepted', {}, task)
      expect(store.evidence.head()).toBe(cid)
    })
  })

  test('cannot be changed by SQL', async () => {
    const store = await storeWithRecords(2)
    await expect(store.write((tx) => tx.run('DELETE FROM evidence WHERE seq = 2'))).rejects.toThrow('append-only')
    await expect(store.write((tx) => tx.run("UPDATE evidence SET task = 'x'"))).rejects.toThrow('append-only')
  })
})

describe('a chain that somebody altered', () => {
  test.each([
    ['the bytes of a record', "UPDATE evidence SET record = CAST('x' AS BLOB) WHERE seq = 3", 3],
    ['the CID of a record', 'UPDATE evidence SET cid = (SELECT cid FROM evidence WHERE seq = 1) WHERE seq = 3', 3],
    ['a record and its CID', alterWhole(3, 4), 3],
    ['the task a record is found by', "UPDATE evidence SET task = 'other' WHERE seq = 2", 2],
    ['a record that was removed', 'DELETE FROM evidence WHERE seq = 4', 4],
    ['the first record', 'DELETE FROM evidence WHERE seq = 1', 1],
  ])('is broken where it is: %s', async (_, sql, brokenAt) => {
    const store = await storeWithRecords(5)
    await store.close()
    const handle = await openSqlite(join(store.dataDir, 'node.db'))
    handle.exec('DROP TRIGGER evidence_is_not_changed; DROP TRIGGER evidence_is_not_deleted')
    handle.exec(sql)
    handle.close()
    const again = await temporaryStore({ dataDir: store.dataDir })
    expect(again.evidence.verify()).toMatchObject({ ok: false, brokenAt, records: brokenAt - 1 })
  })
})

/** Another whole and true record in the place of one: only the links tell. */
function alterWhole(seq: number, other: number): string {
  const of = (column: string) => `${column} = (SELECT ${column} FROM evidence WHERE seq = ${other})`
  return `UPDATE evidence SET ${of('record')}, ${of('cid')}, ${of('task')} WHERE seq = ${seq}`
}
