import { join } from 'node:path'
import { configureSqlite, createSqlDatabase, migrate } from '@shared/sql/index.ts'
import { openBlobs } from './blobs.ts'
import { hubMigrations } from './migrations.ts'
import { openSqlite } from './sqlite-handle.ts'
import { listAgents } from './sqlite-listing.ts'
import { mailPart } from './sqlite-mail.ts'
import { membersPart, readMember } from './sqlite-members.ts'
import type { HubStore, Totals } from './types.ts'

/** The hub's store on one SQLite file and a folder of large envelopes, both in `dataDir`. */
export async function openSqliteStore(options: { dataDir: string; fault: (point: string) => void }): Promise<HubStore> {
  const handle = await openSqlite(join(options.dataDir, 'hub.db'))
  configureSqlite(handle)
  migrate(handle, hubMigrations)
  const db = createSqlDatabase(handle, { schedule: setImmediate, delay: setTimeout })
  const blobs = await openBlobs(join(options.dataDir, 'envelopes'), options.fault)
  await blobs.clean((name) => db.read.get('SELECT 1 FROM hub_mail WHERE blob = ?', name) !== undefined)
  let listedAt = 0

  return {
    ...membersPart(db, () => listedAt),
    ...mailPart(db, blobs, options.fault),
    member: async (aid) => readMember(db.read, aid),
    listAgents: async (query) => {
      if (query.after !== undefined) return listAgents(db.read, query, query.after.at)
      // also those who were seen by a clock that was ahead stand in front of it
      const newest = db.read.get<{ seen: number | null }>('SELECT max(seen) AS seen FROM hub_members')?.seen ?? 0
      listedAt = Math.max(listedAt, query.now, newest)
      return listAgents(db.read, query, listedAt)
    },
    createBlob: () => blobs.create(),
    readBlob: (name) => blobs.read(name),
    totals: async () => {
      const states = db.read.all<{ state: string; n: number }>(
        'SELECT state, count(*) AS n FROM hub_members GROUP BY state',
      )
      const of = (state: string) => states.find((row) => row.state === state)?.n ?? 0
      const mail = db.read.get<{ messages: number | null; bytes: number | null }>(
        'SELECT sum(messages) AS messages, sum(bytes) AS bytes FROM hub_boxes',
      )
      const forks = db.read.get<{ n: number }>('SELECT count(*) AS n FROM hub_forks')
      return {
        members: of('member'),
        waiting: of('waiting'),
        removed: of('removed'),
        messages: mail?.messages ?? 0,
        bytes: mail?.bytes ?? 0,
        forks: forks?.n ?? 0,
      } satisfies Totals
    },
    check: () =>
      db.write((tx) => {
        tx.run(
          "INSERT INTO hub_settings (name, value) VALUES ('checks', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1",
        )
      }),
    close: () => db.close(),
  }
}
