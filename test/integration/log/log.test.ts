import { chmod, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { AnetError } from '../../../src-shared/errors.ts'
import { createLog } from '../../../src-main/node/log.ts'
import { humanLine } from '../../../src-main/node/log-line.ts'
import { temporaryFolder } from '../../helpers/temporary-folder.ts'

let dataDir: string

beforeEach(async () => {
  dataDir = await temporaryFolder()
})

const text = () => readFile(join(dataDir, 'logs', 'node.log'), 'utf8')
const lines = async () =>
  (await text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

describe('the log', () => {
  test('has one JSON object a line, on the disk when the call returns, in private files', async () => {
    const log = createLog({ dataDir })
    log.info({ kind: 'headless' }, 'the node runs')
    log.debug('not at this level')
    log.child({ part: 'hub' }).warn('slow')
    expect(await lines()).toMatchObject([
      { level: 'info', msg: 'the node runs', kind: 'headless', pid: process.pid },
      { level: 'warn', msg: 'slow', part: 'hub' },
    ])
    expect(new Date(String((await lines())[0]?.['time'])).getTime()).toBeGreaterThan(Date.now() - 60_000)
    expect((await stat(join(dataDir, 'logs'))).mode & 0o777).toBe(0o700)
    expect((await stat(join(dataDir, 'logs', 'node.log'))).mode & 0o777).toBe(0o600)
  })

  test('holds no secret, whatever its field is called and however deep it lies', async () => {
    const log = createLog({ dataDir })
    const secret = 'S3CRET'
    log.info({ token: secret, hubToken: secret, headers: { Authorization: secret, list: [{ apiKey: secret }] } }, 'a')
    log.info({ privateKey: secret, passphrase: secret, phrase: secret, words: [secret], cookie: secret }, 'b')
    log
      .child({ part: 'a' })
      .child({ clientSecret: secret })
      .info({ bytes: new Uint8Array(32).fill(83) }, 'c')
    log.error({ err: Object.assign(new Error('failed'), { token: secret, options: { secret } }) }, 'd')
    log.error({ err: new AnetError('refused', 'no', { details: { token: secret, hub: 'h' } }) }, 'e')
    log.error({ failure: Object.assign(new Error('failed'), { token: secret }) }, 'f')
    log.info({ publicKey: 'shown', keyState: 'fresh', ksn: 3 }, 'g')
    expect(await text()).not.toContain(secret)
    expect(await text()).not.toContain('83,83')
    expect(await lines()).toMatchObject([
      { token: '[redacted]', headers: { Authorization: '[redacted]' } },
      {},
      { clientSecret: '[redacted]', bytes: '<32 bytes>' },
      { err: { message: 'failed', stack: expect.stringContaining('log.test') } },
      { err: { code: 'refused', details: { hub: 'h' } } },
      { failure: { message: 'failed' } },
      { publicKey: 'shown', keyState: 'fresh', ksn: 3 },
    ])
  })

  test('is cut into files of a bounded size, of which five are kept', async () => {
    const log = createLog({ dataDir, maxFileBytes: 1000 })
    for (let n = 0; n < 100; n += 1) log.info({ n }, 'x'.repeat(100))
    const names = await readdir(join(dataDir, 'logs'))
    expect(names.toSorted()).toEqual(['node.1.log', 'node.2.log', 'node.3.log', 'node.4.log', 'node.log'])
    for (const name of names) expect((await stat(join(dataDir, 'logs', name))).size).toBeLessThanOrEqual(1000)
    const newest = await lines()
    expect(newest.at(-1)).toMatchObject({ n: 99 })
    const before = await readFile(join(dataDir, 'logs', 'node.1.log'), 'utf8')
    const last = JSON.parse(before.trimEnd().split('\n').at(-1) ?? '') as { n: number }
    expect(newest[0]).toMatchObject({ n: last.n + 1 })
  })

  test('goes on in the file of an earlier run', async () => {
    createLog({ dataDir }).info('first run')
    createLog({ dataDir }).info('second run')
    expect(await lines()).toMatchObject([{ msg: 'first run' }, { msg: 'second run' }])
  })

  test('that cannot be written stops nothing, and goes on when it can', async () => {
    await writeFile(join(dataDir, 'logs'), 'in the way')
    const log = createLog({ dataDir })
    log.info('lost')
    await rm(join(dataDir, 'logs'))
    log.info('written')
    expect(await lines()).toMatchObject([{ msg: 'written' }])
    await chmod(join(dataDir, 'logs'), 0o700)
  })
})

describe('a line for people', () => {
  const line = (fields: object) =>
    humanLine(JSON.stringify({ level: 'warn', time: '2026-01-02T03:04:05.000Z', pid: 1, msg: 'm', ...fields }), false)

  test('has time, level, message and fields', () => {
    expect(line({ aid: 'bafy', n: 3, list: ['a'] })).toMatch(/^\d\d:\d\d:\d\d warn {2}m aid=bafy n=3 list=\["a"\]\n$/)
  })

  test('has the stack of an error below it', () => {
    expect(line({ err: { stack: 'Error: x\n    at y' } })).toMatch(/m\n {2}Error: x\n {6}at y\n$/)
  })

  test('cannot steer the terminal', () => {
    const shown = line({ name: 'a\u001b[2Jb\r\n\u202ec', err: { stack: 'Error: \u001b]0;x\u0007' } })
    for (const steering of ['\u001b', '\u0007', '\r', '\u202e']) expect(shown).not.toContain(steering)
    expect(shown.split('\n')).toHaveLength(3)
  })
})
