import { join } from 'node:path'
import fc from 'fast-check'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { DirectoryStore } from '../../../src-main/node/network/directory-store.ts'
import { listPage } from '../../../src-main/node/network/directory-listing.ts'
import { networkMigrations } from '../../../src-main/node/network/index.ts'
import { privateDirectory } from '../../../src-main/node/data-dir/index.ts'
import { openStore, type Store } from '../../../src-main/node/store/index.ts'
import { temporaryDirectory } from '../../helpers/temporary-hub.ts'
import { crypto } from '../../helpers/wire-agent.ts'

const hour = 60 * 60_000

async function directory(): Promise<{ store: Store; rows: DirectoryStore }> {
  const dataDir = join(await temporaryDirectory(), 'node')
  await privateDirectory(dataDir)
  const store = await openStore({
    dataDir,
    wrappingKey: crypto.randomBytes(32),
    migrations: networkMigrations,
    log: pino({ level: 'silent' }),
    clock: { now: () => Date.now() },
  })
  onTestFinished(() => store.close())
  return { store, rows: new DirectoryStore(store) }
}

function page(store: Store, rows: DirectoryStore, query: Parameters<typeof listPage>[3] = {}) {
  return listPage(store.read, rows, crypto, query)
}

test('a listing shows nobody twice and loses nobody who was there throughout, whatever happens meanwhile', async () => {
  const { store, rows } = await directory()
  let now = 1_000_000
  const agent = fc.integer({ min: 0, max: 19 }).map((number) => `agent-${String(number).padStart(2, '0')}`)
  const event = fc.record({ what: fc.constantFrom('seen', 'gone'), agent, at: fc.integer({ min: 0, max: 1_000 }) })
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { maxLength: 40 }),
      fc.array(fc.array(event, { maxLength: 6 })),
      async (first, then) => {
        const there = new Set<string>()
        const apply = async ({ what, agent: aid, at }: { what: string; agent: string; at: number }) => {
          now += 1
          const lastSeen = now + at
          await store.write((tx) =>
            what === 'gone' ? rows.remove(tx, aid, now) : rows.put(tx, { aid, lastSeen }, now),
          )
          if (what === 'gone') there.delete(aid)
          else there.add(aid)
        }
        for (const one of first) await apply(one)
        const throughout = new Set(there)
        const shown: string[] = []
        const meanwhile = [...then]
        let cursor = ''
        do {
          const answer = page(store, rows, { limit: 3, cursor })
          shown.push(...answer.aids)
          cursor = answer.nextCursor
          for (const one of meanwhile.shift() ?? []) {
            await apply(one)
            if (one.what === 'gone') throughout.delete(one.agent)
          }
        } while (cursor !== '')
        expect(new Set(shown).size).toBe(shown.length)
        for (const aid of throughout) expect(shown).toContain(aid)
        for (const aid of there) await apply({ what: 'gone', agent: aid, at: 0 })
      },
    ),
    { numRuns: 30 },
  )
})

test('the newest seen come first, then by AID', async () => {
  const { store, rows } = await directory()
  await store.write((tx) => {
    for (const [aid, lastSeen] of [
      ['b', 5],
      ['a', 5],
      ['c', 9],
      ['d', 1],
    ] as const)
      rows.put(tx, { aid, lastSeen }, 10)
  })
  expect(page(store, rows).aids).toEqual(['c', 'a', 'b', 'd'])
})

test('a listing can be continued for an hour after a change, and then says that it is too old', async () => {
  const { store, rows } = await directory()
  const now = 10 * hour
  await store.write((tx) => {
    for (const aid of ['a', 'b', 'c']) rows.put(tx, { aid, lastSeen: 1 }, now)
  })
  const { nextCursor } = page(store, rows, { limit: 1 })
  await store.write((tx) => rows.put(tx, { aid: 'c', lastSeen: now }, now + 1))
  await rows.prune(now + hour)
  expect(page(store, rows, { cursor: nextCursor }).aids).toEqual(['b', 'c'])
  await rows.prune(now + 2 * hour)
  expect(() => page(store, rows, { cursor: nextCursor })).toThrow(
    expect.objectContaining({ code: 'cursor_expired' }) as Error,
  )
  expect(page(store, rows).aids).toEqual(['c', 'a', 'b'])
})

test('a page has fifty entries unless asked otherwise', async () => {
  const { store, rows } = await directory()
  await store.write((tx) => {
    for (let number = 0; number < 60; number += 1) rows.put(tx, { aid: `agent-${number}`, lastSeen: number }, 100)
  })
  expect(page(store, rows).aids).toHaveLength(50)
  expect(page(store, rows, { limit: 7 }).aids).toHaveLength(7)
})

test('words that many cards have in common find the newest of them, page by page', async () => {
  const { store, rows } = await directory()
  const card = { name: 'Common', description: 'words', skills: [] } as never
  await store.write((tx) => {
    for (let number = 0; number < 1500; number += 1) {
      rows.put(tx, { aid: `agent-${String(number).padStart(4, '0')}`, lastSeen: number, card }, 10_000)
    }
  })
  const first = page(store, rows, { q: 'common wor', limit: 2 })
  expect(first.aids).toEqual(['agent-1499', 'agent-1498'])
  const second = page(store, rows, { q: 'common wor', limit: 2, cursor: first.nextCursor })
  expect(second.aids).toEqual(['agent-1497', 'agent-1496'])
})

test.each(['\0', 'com\0', '\0mon "\0', '"', 'NEAR(', 'com* OR', '\ud800x', "'); --"])(
  'a search for %j is a search',
  async (q) => {
    const { store, rows } = await directory()
    const card = { name: 'Common "NEAR', description: 'words OR', skills: [] } as never
    await store.write((tx) => rows.put(tx, { aid: 'agent', lastSeen: 1, card }, 10_000))
    expect(page(store, rows, { q }).aids.length).toBeLessThanOrEqual(1)
  },
)
