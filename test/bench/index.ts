import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Desk } from './desk.ts'
import { keep, table } from './report.ts'
import { resultOf, type Result, type Row } from './row.ts'
import { firstEventRow } from './rows/first-event.ts'
import { getTaskRows } from './rows/get-task.ts'
import { sendRows } from './rows/send.ts'

// the row that stops the hub comes last
const rows: readonly Row[] = [...getTaskRows, firstEventRow, ...sendRows]

const rowMs = 180_000

const usage = `npm run bench [-- NAME…] [--json] [--profiles DIR]

Measures the speed goals (docs/performance.md), prints ratios and keeps them in bench/results. With names, only these
rows. With --profiles every process leaves a CPU profile in DIR. Fails if a row could not be measured; a missed goal is
said, and no failure.

Rows: ${rows.map(({ name }) => name).join(' ')}
`

async function main(): Promise<number> {
  const { values: given, positionals } = parseArgs({
    args: process.argv.slice(2),
    allowPositionals: true,
    options: { json: { type: 'boolean' }, profiles: { type: 'string' }, help: { type: 'boolean' } },
  })
  const [root = '', ...names] = positionals
  if (given.help === true) {
    process.stdout.write(usage)
    return 0
  }
  const unknown = names.filter((name) => !rows.some((row) => row.name === name))
  if (unknown.length > 0) {
    process.stderr.write(`There is no row ${unknown.join(', ')}.\n\n${usage}`)
    return 2
  }
  const chosen = names.length === 0 ? rows : rows.filter(({ name }) => names.includes(name))
  const results = await measure(root, chosen, given.profiles)
  const path = await keep(root, results)
  process.stdout.write(given.json === true ? `${JSON.stringify(results, null, 2)}\n` : `${table(results)}\n`)
  for (const { name, error } of results) if (error !== undefined) process.stderr.write(`${name}: ${error}\n`)
  process.stderr.write(`Kept in ${path}\n`)
  return results.every(({ outcome }) => outcome !== 'not measured') ? 0 : 1
}

async function measure(root: string, chosen: readonly Row[], profiles: string | undefined): Promise<Result[]> {
  const desk = new Desk({ root, ...(profiles === undefined ? {} : { profiles: resolve(profiles) }) })
  const onSignal = (): void => void desk.close().finally(() => process.exit(130))
  process.once('SIGINT', onSignal)
  process.once('SIGTERM', onSignal)
  const results: Result[] = []
  try {
    for (const row of chosen) {
      process.stderr.write(`measuring ${row.name}…\n`)
      results.push(resultOf(row, await within(rowMs, row.measure(desk)).catch(asError)))
    }
  } finally {
    await desk.close()
  }
  return results
}

/** A row that hangs counts as not measured. */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const over = new AbortController()
  const late = sleep(ms, undefined, { signal: over.signal }).then(() => {
    throw new Error(`it did not end within ${ms / 1000} seconds`)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    over.abort()
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

process.exitCode = await main()
