import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { bundled } from '../../helpers/bundle.ts'
import { temporaryFolder } from '../../helpers/temporary-folder.ts'
import { temporaryStore } from '../../helpers/temporary-store.ts'

/** Runs the writer until it has acknowledged so many numbers, then kills it like a power cut of the process. */
async function writeUntilKilled(program: string, dataDir: string, count: number): Promise<number[]> {
  const child = spawn(process.execPath, [program, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const acknowledged: number[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    acknowledged.push(Number(line))
    if (acknowledged.length === count) child.kill('SIGKILL')
  }
  if (child.signalCode === null && child.exitCode === null) await once(child, 'exit')
  expect(child.signalCode).toBe('SIGKILL')
  return acknowledged
}

test('what was acknowledged before a kill -9 is there, whole, with its evidence and its files', async () => {
  const program = await bundled('test/helpers/store-writer.ts')
  for (const count of [30, 333, 1001]) {
    const dataDir = await temporaryFolder()
    const acknowledged = await writeUntilKilled(program, dataDir, count)
    const store = await temporaryStore({
      dataDir,
      migrations: [{ id: 'numbers', sql: 'CREATE TABLE numbers (n INTEGER PRIMARY KEY) STRICT' }],
    })
    const stored = new Set(store.read.all<{ n: number }>('SELECT n FROM numbers').map(({ n }) => n))
    expect(acknowledged.filter((n) => !stored.has(n))).toEqual([])
    expect(store.evidence.verify()).toMatchObject({ ok: true, records: stored.size })
    const kept = store.read.all<{ name: string }>('SELECT name FROM content_files ORDER BY name')
    expect((await readdir(join(dataDir, 'attachments'))).toSorted()).toEqual(kept.map(({ name }) => name))
  }
})
