import { rm } from 'node:fs/promises'
import { configureSqlite, type SqliteHandle, type SqlValue } from '../../../src-shared/sql/index.ts'
import { openSqlite } from '../../../src-main/node/store/sqlite.ts'
import { z } from 'zod'
import { serveParent } from '../../../src-main/demo/serve-parent.ts'

const snapshotSchema = z.object({ database: z.string(), to: z.string() })
const replaySchema = z.object({ database: z.string(), before: z.string(), sends: z.number() })

interface TableRows {
  readonly insert: string
  readonly rows: readonly SqlValue[][]
}

/** Copies a database as it is now. */
async function snapshot(input: unknown): Promise<null> {
  const { database, to } = snapshotSchema.parse(input)
  await rm(to, { force: true })
  const handle = await openSqlite(database)
  handle.prepare('VACUUM INTO ?').run(to)
  handle.close()
  return null
}

/**
 * Writes the rows that `database` has and `before` has not into `before`, in as many transactions as there were sends,
 * one after the other, each synced. Nothing else is done: no statement is prepared and no row is made meanwhile.
 */
async function replay(input: unknown): Promise<{ perSecond: number; rowsPerSend: number }> {
  const { database, before, sends } = replaySchema.parse(input)
  const source = await openSqlite(database)
  source.prepare('ATTACH ? AS before').run(before)
  const tables = tablesOf(source).map((table) => newRows(source, table))
  source.close()
  const target = await openSqlite(before)
  configureSqlite(target)
  // rows arrive table by table, as they were read
  target.exec('PRAGMA foreign_keys = OFF')
  const inserts = tables.filter(({ rows }) => rows.length >= sends / 2)
  const prepared = inserts.map(({ insert, rows }) => ({ statement: target.prepare(insert), rows }))
  const [begin, commit] = [target.prepare('BEGIN IMMEDIATE'), target.prepare('COMMIT')]
  const started = performance.now()
  for (let send = 0; send < sends; send += 1) {
    begin.run()
    for (const { statement, rows } of prepared) {
      const [from, to] = [share(rows.length, send, sends), share(rows.length, send + 1, sends)]
      for (let index = from; index < to; index += 1) statement.run(...(rows[index] ?? []))
    }
    commit.run()
  }
  const took = performance.now() - started
  target.close()
  const written = inserts.reduce((sum, { rows }) => sum + rows.length, 0)
  return { perSecond: (sends / took) * 1000, rowsPerSend: written / sends }
}

function share(rows: number, send: number, sends: number): number {
  return Math.round((rows * send) / sends)
}

function tablesOf(handle: SqliteHandle): string[] {
  const sql = `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
  return (handle.prepare(sql).all() as { name: string }[]).map(({ name }) => name)
}

function newRows(handle: SqliteHandle, table: string): TableRows {
  const columns = handle.prepare(`PRAGMA table_info("${table}")`).all() as { name: string; pk: number }[]
  const names = columns.map(({ name }) => `"${name}"`)
  const keys = columns.filter(({ pk }) => pk > 0).map(({ name }) => `"${name}"`)
  const key = keys.length > 0 ? keys : ['rowid']
  const isNew = `(${key.join(', ')}) NOT IN (SELECT ${key.join(', ')} FROM before."${table}")`
  const found = handle.prepare(`SELECT * FROM main."${table}" WHERE ${isNew} ORDER BY ${key.join(', ')}`).all()
  return {
    insert: `INSERT INTO "${table}" (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    rows: found.map((row) => columns.map(({ name }) => (row as Record<string, SqlValue>)[name] ?? null)),
  }
}

serveParent({ snapshot, replay }, async () => undefined)
