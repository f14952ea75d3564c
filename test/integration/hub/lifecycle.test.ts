import { chmod, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hubPaths } from '@shared/wire/index.ts'
import { hubFaultPoints, type HubLog, startHub } from '../../../src-hub/index.ts'
import { openSqliteStore } from '../../../src-hub/store/index.ts'
import { decoded, envelopeTo, errorCode, HubAgent, request } from '../../helpers/hub-agent.ts'
import { askAdmin, joinedAgent, temporaryDirectory, temporaryHub } from '../../helpers/temporary-hub.ts'

const start = (dataDir: string) => startHub({ dataDir, port: 0, policy: 'open' })

describe('a hub', () => {
  it('stays who it is and keeps its members over restarts', async () => {
    const dataDir = join(await temporaryDirectory(), 'hub')
    const hub = await temporaryHub({ dataDir })
    const agent = await joinedAgent(hub)
    await hub.stop()
    await hub.stop()
    const again = await temporaryHub({ dataDir })
    expect(again.aid).toBe(hub.aid)
    expect(again.adminToken).not.toBe(hub.adminToken)
    agent.hub.url = again.url
    expect((await agent.lookup(agent.aid)).aid).toBe(agent.aid)
  })

  it('stops without losing a request that it has taken, and takes its addresses away', async () => {
    const dataDir = join(await temporaryDirectory(), 'hub')
    const hub = await temporaryHub({ dataDir })
    const agent = await joinedAgent(hub)
    const session = await agent.open()
    const waiting = agent.clone()
    const sending = Array.from({ length: 20 }, () => agent.send(agent.aid))
    await Promise.race(sending)
    await hub.stop()
    const answers = await Promise.allSettled(sending)
    const stored = answers.filter((answer) => answer.status === 'fulfilled' && answer.value.status === 200)
    expect(await session.closed).toBe(1001)
    expect((await readdir(dataDir)).filter((name) => name.endsWith('.txt'))).toEqual([])
    await expect(request(hub.url, 'GET', hubPaths.info, undefined, {})).rejects.toThrow()
    waiting.hub.url = (await temporaryHub({ dataDir })).url
    expect((await waiting.poll()).length).toBeGreaterThanOrEqual(stored.length)
  })

  it('answers a waiting long poll before it stops', async () => {
    const hub = await temporaryHub()
    const agent = await joinedAgent(hub)
    const waiting = agent.poll(60_000)
    await expect.poll(async () => (await askAdmin(hub, 'GET', '/metrics')).json).toContain('anet_hub_polls 1')
    await hub.stop()
    expect(await waiting).toEqual([])
  })

  it('is alone on its directory', async () => {
    const hub = await temporaryHub()
    await expect(start(hub.dataDir)).rejects.toMatchObject({ code: 'hub_already_running' })
    await hub.stop()
    const next = await start(hub.dataDir)
    await next.stop()
  })

  it('does not become another hub when its key is lost or damaged', async () => {
    const hub = await temporaryHub()
    await hub.stop()
    const key = join(hub.dataDir, 'hub_key')
    const content = await readFile(key)
    await writeFile(key, content.subarray(0, 50))
    await expect(start(hub.dataDir)).rejects.toMatchObject({ code: 'hub_key_damaged' })
    await rm(key)
    await expect(start(hub.dataDir)).rejects.toMatchObject({ code: 'hub_key_missing' })
    await writeFile(key, content, { mode: 0o600 })
    const again = await start(hub.dataDir)
    expect(again.aid).toBe(hub.aid)
    await again.stop()
  })

  it('refuses a directory or a key that others can read, and a key that is a link', async () => {
    const hub = await temporaryHub()
    await hub.stop()
    const key = join(hub.dataDir, 'hub_key')
    await chmod(key, 0o644)
    await expect(start(hub.dataDir)).rejects.toMatchObject({ code: 'hub_file_unsafe' })
    await chmod(key, 0o600)
    await chmod(hub.dataDir, 0o755)
    await expect(start(hub.dataDir)).rejects.toMatchObject({ code: 'hub_directory_unsafe' })
    await chmod(hub.dataDir, 0o700)
    const elsewhere = join(await temporaryDirectory(), 'key')
    await writeFile(elsewhere, await readFile(key), { mode: 0o600 })
    await rm(key)
    await symlink(elsewhere, key)
    await expect(start(hub.dataDir)).rejects.toMatchObject({ code: 'hub_file_unsafe' })
  })

  it('names a port that is taken and a database that is damaged, and leaves both alone', async () => {
    const hub = await temporaryHub()
    const port = Number(new URL(hub.url).port)
    const other = join(await temporaryDirectory(), 'other')
    const taken = startHub({ dataDir: other, port, policy: 'open' })
    await expect(taken).rejects.toMatchObject({ code: 'hub_port_in_use' })
    const next = await start(other)
    await next.stop()
    await writeFile(join(other, 'hub.db'), Buffer.alloc(8192, 7))
    await expect(start(other)).rejects.toMatchObject({ code: 'database_damaged' })
    expect((await readFile(join(other, 'hub.db')))[0]).toBe(7)
  })

  it('calls every durable step by its name', async () => {
    const steps: string[] = []
    const hub = await temporaryHub({ fault: (point) => steps.push(point) })
    const agent = await joinedAgent(hub)
    await agent.publish({ card: agent.card() })
    await agent.post(hubPaths.send, envelopeTo(agent.aid, new Uint8Array(300_000)))
    const mail = await agent.poll()
    await agent.acknowledge(mail.map((one) => one.id))
    expect(steps).toEqual(hubFaultPoints)
  })

  it('keeps no sender, and logs neither content nor tokens', async () => {
    const lines: string[] = []
    const note = (fields: unknown, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`)
    const log: HubLog = { info: note, warn: note, error: note }
    const dataDir = join(await temporaryDirectory(), 'hub')
    const hub = await temporaryHub({ dataDir, log, policy: 'invite' })
    const invites = [await hub.createInvite(), await hub.createInvite()]
    const [from, to] = [new HubAgent(hub), new HubAgent(hub)]
    await from.join({ invite: invites[0] ?? '' })
    await to.join({ invite: invites[1] ?? '' })
    const canary = Buffer.from('canary-ciphertext-0123456789abcdef')
    expect(decoded(await from.post(hubPaths.send, envelopeTo(to.aid, canary)))).toEqual({ stored: true })
    expect(errorCode(await from.lookup(to.aid).then(() => from.send(to.aid)))).toBeUndefined()
    await hub.stop()

    const said = lines.join('\n')
    for (const secret of [...invites, hub.adminToken, 'canary', canary.toString('base64')])
      expect(said).not.toContain(secret)
    const store = await openSqliteStore({ dataDir, fault: () => {} })
    const box = await store.mailAfter(to.aid, 0, { limit: 10, bytes: 1e6, since: 0 })
    expect(box).toHaveLength(2)
    expect(Object.keys(box[0] ?? {}).toSorted()).toEqual(['blob', 'envelope', 'id', 'size'])
    await store.close()
    const database = await readFile(join(dataDir, 'hub.db'))
    // once in the index of members, once in its row, and in what the agent signed: not once per message
    const count = (text: string) => database.toString('latin1').split(text).length - 1
    expect(count(from.aid)).toBeLessThanOrEqual(count(to.aid) - 2)
    for (const invite of invites) expect(count(invite)).toBe(0)
  })

  it('makes its directory where it is told, and only there', async () => {
    const parent = await temporaryDirectory()
    await mkdir(join(parent, 'a'))
    const hub = await temporaryHub({ dataDir: join(parent, 'a', 'b') })
    expect((await readdir(hub.dataDir)).toSorted()).toEqual([
      'envelopes',
      'hub.db',
      'hub.db-shm',
      'hub.db-wal',
      'hub.lock',
      'hub_addr.txt',
      'hub_admin_addr.txt',
      'hub_admin_token.txt',
      'hub_key',
      'hub_next_key',
    ])
    expect(await readdir(parent)).toEqual(['a'])
  })
})
