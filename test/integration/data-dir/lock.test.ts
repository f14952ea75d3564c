import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { lockDataDir, lockHolder } from '../../../src-main/node/data-dir/index.ts'
import { temporaryFolder } from '../../helpers/temporary-folder.ts'

const knowsStartTimes = existsSync('/proc/self/stat')
let dataDir: string
let path: string

beforeEach(async () => {
  dataDir = await temporaryFolder()
  path = join(dataDir, 'node.lock')
})

async function otherProcess(): Promise<ChildProcess & { readonly pid: number }> {
  const child = spawn(process.execPath, ['-e', 'process.stdout.write("up"); process.stdin.resume()'])
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  if (child.pid === undefined) throw new Error('not started')
  return child as ChildProcess & { readonly pid: number }
}

async function lockedBy(pid: number, started: string | null = null): Promise<void> {
  await writeFile(path, JSON.stringify({ pid, started, kind: 'headless', since: 1_700_000_000_000 }), { mode: 0o600 })
}

describe('node.lock', () => {
  test('is held by one node, and tells who that is', async () => {
    const lock = await lockDataDir(dataDir, 'desktop')
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ pid: process.pid, kind: 'desktop' })
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    await expect(lockDataDir(dataDir, 'headless')).rejects.toMatchObject({
      code: 'node_running',
      message: expect.stringMatching(new RegExp(`ANet Desktop, process ${process.pid},`)),
      remedy: expect.stringContaining('anet stop'),
      details: { pid: process.pid, kind: 'desktop', since: expect.any(Number) },
    })
    expect(await lockHolder(dataDir)).toMatchObject({ pid: process.pid, kind: 'desktop' })
    await lock.release()
    expect(await lockHolder(dataDir)).toBeUndefined()
    expect(await readdir(dataDir)).toEqual([])
    await (await lockDataDir(dataDir, 'headless')).release()
  })

  test('of a running process is respected', async () => {
    const other = await otherProcess()
    await lockedBy(other.pid)
    await expect(lockDataDir(dataDir, 'desktop')).rejects.toMatchObject({ details: { pid: other.pid } })
  })

  test('of a killed process is taken over', async () => {
    const other = await otherProcess()
    await lockedBy(other.pid)
    other.kill('SIGKILL')
    await once(other, 'exit')
    expect(await lockHolder(dataDir)).toBeUndefined()
    const lock = await lockDataDir(dataDir, 'headless')
    expect(await lockHolder(dataDir)).toMatchObject({ pid: process.pid })
    await lock.release()
  })

  test.runIf(knowsStartTimes)('of a dead process whose number another one got is taken over', async () => {
    const other = await otherProcess()
    await lockedBy(other.pid, 'an-earlier-boot/123')
    await (await lockDataDir(dataDir, 'headless')).release()
  })

  test('that says nothing is taken over', async () => {
    await writeFile(path, 'garbage', { mode: 0o600 })
    await (await lockDataDir(dataDir, 'headless')).release()
  })

  test('left behind goes to one of many that want it', async () => {
    await lockedBy(2 ** 22 + 1)
    const results = await Promise.allSettled(Array.from({ length: 12 }, () => lockDataDir(dataDir, 'headless')))
    const won = results.filter((result) => result.status === 'fulfilled')
    expect(won).toHaveLength(1)
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'node_running' })
    }
    expect(await readdir(dataDir)).toEqual(['node.lock'])
  })

  test('of somebody else is not removed on release', async () => {
    const lock = await lockDataDir(dataDir, 'headless')
    const other = await otherProcess()
    await lockedBy(other.pid)
    await lock.release()
    expect(await lockHolder(dataDir)).toMatchObject({ pid: other.pid })
  })
})
