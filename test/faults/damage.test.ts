import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, mkdtemp, open, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { CheckView, NodeView } from '@shared/contract/index.ts'
import { anet, anetJson, stopsWithTest } from '../helpers/anet-command.ts'
import { createNode, hubProgram } from '../helpers/faults/network.ts'
import { isFullRun } from '../helpers/faults/points.ts'

const script = resolve(import.meta.dirname, '../../out/cli/index.js')
let folder: string
/** A data directory as a kill -9 leaves it, and who it is. */
let original: { dataDir: string; aid: string }

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'anet-damage-'))
  const { dataDir, aid, program } = await createNode('node', join(folder, 'original'))
  // the first run ends in good order, so that the database itself holds what the log of the second does not
  await program.start()
  await program.restart()
  await program.killForGood()
  original = { dataDir, aid }
})

afterAll(() => rm(folder, { recursive: true, force: true }))

async function copyOfNode(): Promise<string> {
  const dataDir = await mkdtemp(join(folder, 'node-'))
  await cp(original.dataDir, dataDir, { recursive: true })
  await rm(join(dataDir, 'node.lock'), { force: true })
  stopsWithTest(dataDir)
  return dataDir
}

/** Digests of the files that no start may change or make: keys, database, configuration. */
const precious = (dataDir: string) => digestsOf(dataDir, /^(keys\/.*|node\.db|config\.json)$/)

async function digestsOf(dataDir: string, which: RegExp): Promise<Record<string, string>> {
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dataDir.length + 1))
    .filter((name) => which.test(name))
  const digests = files.map(async (name) => {
    const bytes = await readFile(join(dataDir, name))
    return [name, createHash('sha256').update(bytes).digest('hex')] as const
  })
  return Object.fromEntries(await Promise.all(digests))
}

const keyFile = 'keys/keys.sealed'

async function overwrite(path: string, offset: number, length: number): Promise<void> {
  const file = await open(path, 'r+')
  await file.write(Buffer.alloc(length, 0xa5), 0, length, offset)
  await file.close()
}

const half = async (path: string): Promise<void> => truncate(path, Math.floor((await stat(path)).size / 2))

async function wrappingKey(dataDir: string): Promise<string> {
  const name = (await readdir(join(dataDir, 'keys'))).find((file) => file.startsWith('wrapping-'))
  return join(dataDir, 'keys', name ?? '')
}

const damages: readonly (readonly [string, string, (dataDir: string) => Promise<void>])[] = [
  ['a page of the database', 'database_damaged', (dir) => overwrite(join(dir, 'node.db'), 5 * 4096, 4096)],
  ['the head of the database', 'database_damaged', (dir) => overwrite(join(dir, 'node.db'), 0, 100)],
  ['half of the database', 'database_damaged', (dir) => half(join(dir, 'node.db'))],
  ['a byte of the key file', 'key_file_damaged', (dir) => overwrite(join(dir, keyFile), 100, 1)],
  ['half of the key file', 'key_file_damaged', (dir) => half(join(dir, keyFile))],
  ['all of the key file', 'key_file_damaged', (dir) => truncate(join(dir, keyFile), 0)],
  ['the key file itself', 'key_file_damaged', (dir) => rm(join(dir, keyFile))],
  ['the wrapping key', 'key_file_damaged', async (dir) => rm(await wrappingKey(dir))],
  ['half of the wrapping key', 'secret_store_unavailable', async (dir) => half(await wrappingKey(dir))],
  ['half of the configuration', 'config_invalid', (dir) => writeFile(join(dir, 'config.json'), '{ "agent": { "na')],
]

/** `npm run test:faults` tries all; two that differ most are in every run. */
const tried = isFullRun ? damages : damages.filter(([what]) => /^(a page|half of the key)/.test(what))

describe('a node that was killed and then lost', () => {
  test.each(tried)('%s does not start: %s, and nothing is made in its place', async (_what, code, damage) => {
    const dataDir = await copyOfNode()
    await damage(dataDir)
    const before = await precious(dataDir)
    const { error } = await anetJson<{ error?: { code: string; message: string; remedy?: string } }>(['up'], {
      dataDir,
    })
    expect(error).toMatchObject({ code, remedy: expect.stringMatching(/\w/) })
    expect(await precious(dataDir)).toEqual(before)
    // somebody who tries to begin anew is stopped as well
    const init = ['init', '--secret-store', 'file', '--recovery-file', join(folder, 'phrase')]
    expect((await anet(init, { dataDir })).code).not.toBe(0)
    expect(await precious(dataDir)).toEqual(before)
    // with the file from a backup it is the same node
    for (const name of Object.keys(await precious(original.dataDir))) {
      await cp(join(original.dataDir, name), join(dataDir, name))
    }
    if (code === 'config_invalid') await rm(join(dataDir, 'config.json'))
    expect(await anetJson<NodeView>(['up'], { dataDir })).toMatchObject({ aid: original.aid })
  })

  test('nothing, but has pieces of files that were being written, starts as the same node', async () => {
    const dataDir = await copyOfNode()
    for (const name of ['node.lock', `${keyFile}.123.new`, 'config.json.0a1b.tmp', 'control_token.txt']) {
      await writeFile(join(dataDir, name), '', { mode: 0o600 })
    }
    expect(await anetJson<NodeView>(['up'], { dataDir })).toMatchObject({ aid: original.aid })
  })
})

describe('a node whose endpoint lost', () => {
  test('half of its address runs without it, and changes nothing', async () => {
    const dataDir = await copyOfNode()
    const file = join(dataDir, 'modules/a2a/a2a_addr.txt')
    await writeFile(file, '127.0.0.1:4', { mode: 0o600 })
    const view = await anetJson<NodeView>(['up'], { dataDir })
    expect(view).toMatchObject({ aid: original.aid, endpoint: { state: 'address_file_invalid' } })
    expect(await readFile(file, 'utf8')).toBe('127.0.0.1:4')
  })

  test('half of its token authorises nobody, and doctor says why', async () => {
    const dataDir = await copyOfNode()
    const file = join(dataDir, 'modules/a2a/a2a_token.txt')
    const token = (await readFile(file, 'utf8')).trim()
    const { endpoint } = await anetJson<NodeView>(['up'], { dataDir })
    await half(file)
    for (const presented of [token, token.slice(0, 32)]) {
      const answer = await fetch(endpoint.agentsUrl ?? '', { headers: { authorization: `Bearer ${presented}` } })
      expect(answer.status).toBe(401)
    }
    const { checks } = await anetJson<{ checks: CheckView[] }>(['doctor'], { dataDir })
    expect(checks.find(({ outcome, seen }) => outcome === 'fail' && seen.includes('a2a_token.txt'))).toBeDefined()
  })
})

describe('a data directory that may not be written', () => {
  test('is named, and nothing is lost', async () => {
    const dataDir = await copyOfNode()
    const before = await precious(dataDir)
    const { stdout } = spawnSync(
      'unshare',
      ['--mount', '--map-root-user', 'sh', '-c', readOnly, 'sh', dataDir, script],
      {
        encoding: 'utf8',
      },
    )
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: 'data_dir_read_only', remedy: expect.stringMatching(/\w/) },
    })
    expect(await precious(dataDir)).toEqual(before)
    expect(await anetJson<NodeView>(['up'], { dataDir })).toMatchObject({ aid: original.aid })
  })
})

/** In a mount namespace of its own, so that it holds for root as well. */
const readOnly = [
  'mount --bind "$1" "$1"',
  'mount -o remount,bind,ro "$1"',
  `exec '${process.execPath}' "$2" up --foreground --json --data "$1"`,
].join(' && ')

describe('a hub that lost', () => {
  test.each([
    ['a page of its database', 'hub.db', 'database_damaged', (path: string) => overwrite(path, 4096, 4096)],
    ['half of its key', 'hub_key', 'hub_key_damaged', half],
    ['its key', 'hub_key', 'hub_key_missing', (path: string) => rm(path)],
  ] as const)('%s (%s) does not start: %s, and makes no other', async (_what, name, code, damage) => {
    const dataDir = await mkdtemp(join(folder, 'hub-'))
    const { program, start } = hubProgram(dataDir)
    onTestFinished(() => program.stop())
    await start()
    await program.stop()
    await damage(join(dataDir, name))
    const run = ['hub', 'run', '--data', dataDir, '--port', '0']
    const before = await digestsOf(dataDir, /^hub(_key|_next_key|\.db)$/)
    expect(await anetJson(run)).toMatchObject({ error: { code, remedy: expect.stringMatching(/\w/) } })
    expect(await digestsOf(dataDir, /^hub(_key|_next_key|\.db)$/)).toEqual(before)
  })
})
