import { chmod, readFile, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { loadConfig, updateConfig } from '../../../src-main/node/config/index.ts'
import { temporaryFolder } from '../../helpers/temporary-folder.ts'

const aid = 'bafyreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy'
const other = 'bafyreieqv2e5c3gysz2tlgyixj6si7rryi7nmrmcnczvluja5hhdbx3frm'
const written = `{
    "no_response_after": "20m",
    "peers": {
        "deny": [ { "aid": "${aid}", "label": "spam" } ]
    },
    "inbound": { "policy": "approve" }
}
`
let dataDir: string
let path: string

beforeEach(async () => {
  dataDir = await temporaryFolder()
  path = join(dataDir, 'config.json')
})

test('the first change makes the file, with that change alone', async () => {
  const config = await updateConfig(dataDir, (current) => ({ ...current, inbound: { policy: 'open' } }))
  expect(config.inbound.policy).toBe('open')
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ inbound: { policy: 'open' } })
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(await loadConfig(dataDir)).toEqual(config)
})

test('a change touches its own characters and no others', async () => {
  await writeFile(path, written)
  await updateConfig(dataDir, (current) => ({ ...current, inbound: { policy: 'closed' } }))
  expect(await readFile(path, 'utf8')).toBe(written.replace('"approve"', '"closed"'))
})

test('new keys come in the layout of the file, after the others', async () => {
  await writeFile(path, written)
  await updateConfig(dataDir, (current) => ({ ...current, hub: { url: 'http://127.0.0.1:8450', aid } }))
  const text = await readFile(path, 'utf8')
  expect(text.slice(0, text.indexOf('"inbound"'))).toBe(written.slice(0, written.indexOf('"inbound"')))
  expect(text).toContain(`,\n    "hub": {\n        "url": "http://127.0.0.1:8450",\n        "aid": "${aid}"\n    }\n}`)
  expect(Object.keys(JSON.parse(text) as object)).toEqual(['no_response_after', 'peers', 'inbound', 'hub'])
})

test('entries of a list that stay keep the form in which they were written', async () => {
  const backend = '{ "url": "unix:///run/a.sock", "match": "a" }'
  await writeFile(path, `{ "modules": { "a2a": { "backends": [${backend}] } } }`)
  await updateConfig(dataDir, (current) => {
    current.modules.a2a.backends.push({
      ...current.modules.a2a.backends[0]!,
      match: 'b',
    })
    return current
  })
  const { modules } = JSON.parse(await readFile(path, 'utf8')) as { modules: { a2a: { backends: object[] } } }
  expect(Object.keys(modules.a2a.backends[0] ?? {})).toEqual(['url', 'match'])
  expect(modules.a2a.backends).toHaveLength(2)
})

test('keys and entries can be taken out again', async () => {
  await writeFile(path, written)
  await updateConfig(dataDir, (current) => ({
    ...current,
    hub: { url: 'http://127.0.0.1:8450', aid },
    peers: { ...current.peers, deny: [...current.peers.deny, { aid: other }] },
  }))
  const config = await updateConfig(dataDir, (current) => ({
    ...current,
    hub: undefined,
    peers: { ...current.peers, deny: current.peers.deny.filter((peer) => peer.aid !== aid) },
  }))
  expect(config.hub).toBeUndefined()
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
    no_response_after: '20m',
    peers: { deny: [{ aid: other }] },
    inbound: { policy: 'approve' },
  })
})

test('no change writes nothing', async () => {
  await writeFile(path, written)
  await chmod(path, 0o640)
  await updateConfig(dataDir, (current) => current)
  expect((await stat(path)).mode & 0o777).toBe(0o640)
})

test('a change that is not allowed, or of a file that is not whole, writes nothing', async () => {
  await writeFile(path, written)
  const bad = updateConfig(dataDir, (current) => ({ ...current, no_response_after: 'soon' }))
  await expect(bad).rejects.toMatchObject({ code: 'config_invalid' })
  expect(await readFile(path, 'utf8')).toBe(written)
  await writeFile(path, '{ "inbound": ')
  await expect(updateConfig(dataDir, (current) => current)).rejects.toMatchObject({ code: 'config_invalid' })
  expect(await readFile(path, 'utf8')).toBe('{ "inbound": ')
  expect(await readdir(dataDir)).toEqual(['config.json'])
})
