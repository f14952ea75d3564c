import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { NodeEvent } from '@shared/contract/index.ts'
import { connectControl } from '../../../src-main/node/control/index.ts'
import { updateConfig } from '../../../src-main/node/config/index.ts'
import { startNode } from '../../../src-main/node/node.ts'
import { known, setUpNode, startTestHub, startTestNode, testFolder } from '../../helpers/nodes.ts'

/** A busy machine takes longer than the second that a poll has by itself. */
const patient = { timeout: 10_000 }

describe('a node', () => {
  it('is joined, lists its peers, and carries a task there and back', async () => {
    const hub = await startTestHub()
    const asker = await startTestNode({ name: 'asker', hub })
    const answerer = await startTestNode({ name: 'answerer', hub, trust: [asker.aid] })
    await known(asker, answerer)

    const events: NodeEvent[] = []
    const unsubscribe = asker.node.door.subscribe((event) => events.push(event))
    const arrives = answerer.event((event) => (event.type === 'inbox' && event.open > 0 ? true : undefined))
    const { task } = await asker.client.tasks.send({ agent: answerer.aid, text: 'What is six times seven?' })
    expect(task).toMatchObject({ direction: 'out', peerName: 'answerer', title: 'What is six times seven?' })
    await arrives
    const { items } = await answerer.client.inbox.list({})
    expect(items[0]).toMatchObject({ trusted: true, state: 'waiting', task: { direction: 'in', peerName: 'asker' } })
    await answerer.client.inbox.answer({ id: items[0]?.id ?? -1, kind: 'complete', text: '42' })

    const done = await asker.client.tasks.wait({ id: task.id })
    expect(done.state).toBe('TASK_STATE_COMPLETED')
    const detail = await asker.client.tasks.get({ id: task.id })
    expect(JSON.stringify(detail.artifacts)).toContain('42')
    expect(detail.evidence.map(({ kind }) => kind)).toContain('task.opened')
    expect((await answerer.client.inbox.list({})).open).toBe(0)

    expect(events[0]?.type).toBe('node')
    await expect
      .poll(() => events.findLast((event) => event.type === 'task')?.value.state, patient)
      .toBe('TASK_STATE_COMPLETED')
    const revisions = events.flatMap((event) => (event.type === 'node' ? [event.revision] : []))
    expect(revisions).toEqual(revisions.toSorted((a, b) => a - b))
    unsubscribe()
  })

  it('keeps everything across a restart', async () => {
    const hub = await startTestHub()
    const asker = await startTestNode({ name: 'asker', hub })
    const answerer = await startTestNode({ name: 'answerer', hub, trust: [asker.aid] })
    await known(asker, answerer)
    const { task } = await asker.client.tasks.send({ agent: answerer.aid, text: 'Wait for me.' })
    const before = await asker.client.node.status({})
    await asker.restart()
    const after = await asker.client.node.status({})
    expect(after).toMatchObject({ aid: before.aid, endpoint: { address: before.endpoint.address } })
    expect((await asker.client.tasks.list({ state: 'open' })).tasks.map(({ id }) => id)).toEqual([task.id])

    const { items } = await inboxOf(answerer)
    await answerer.client.inbox.answer({ id: items[0]?.id ?? -1, kind: 'complete', text: 'I did.' })
    expect((await asker.client.tasks.wait({ id: task.id })).state).toBe('TASK_STATE_COMPLETED')
  })

  it('refuses strangers until the operator trusts them, from the next message on', async () => {
    const hub = await startTestHub()
    const stranger = await startTestNode({ name: 'stranger', hub })
    const closed = await startTestNode({ name: 'closed', hub })
    await known(stranger, closed)
    const refused = await stranger.client.tasks.send({ agent: closed.aid, text: 'Hello?' })
    expect(await stranger.client.tasks.wait({ id: refused.task.id })).toMatchObject({
      state: 'TASK_STATE_REJECTED',
      reason: 'not_accepting',
    })
    const agents = closed.event((event) => (event.type === 'agents' ? true : undefined))
    expect(await closed.client.agents.setRelation({ aid: stranger.aid, relation: 'trust' })).toMatchObject({
      relation: 'trust',
    })
    await agents
    expect(JSON.parse(readFileSync(join(closed.dataDir, 'config.json'), 'utf8'))).toMatchObject({
      peers: { trust: [{ aid: stranger.aid }] },
    })
    await stranger.client.tasks.send({ agent: closed.aid, text: 'Hello again?' })
    expect((await inboxOf(closed)).items[0]).toMatchObject({ trusted: true })
    await closed.client.agents.setRelation({ aid: stranger.aid, relation: 'none' })
    expect((await closed.client.agents.get({ aid: stranger.aid })).relation).toBe('none')
  })

  it('shows an agent with both cards, its history and a command to try', async () => {
    const hub = await startTestHub()
    const one = await startTestNode({ name: 'one', hub })
    const other = await startTestNode({ name: 'other', hub })
    await known(one, other)
    const agent = await one.client.agents.get({ aid: other.aid })
    expect(agent).toMatchObject({
      name: 'other',
      verification: 'VERIFIED',
      keyState: 'stale',
      charge: 'free',
      homeHub: hub.aid,
      history: [{ seq: 0, type: 'inception' }],
      networkCard: { name: 'other', skills: [{ id: 'text' }] },
      proxyCard: { name: 'other', supportedInterfaces: expect.arrayContaining([expect.anything()]) as unknown },
    })
    expect(agent.curl).toContain(`${agent.url}/jsonrpc`)
    await expect(one.client.agents.get({ aid: other.aid.slice(0, 20) })).rejects.toMatchObject({
      code: 'unknown_agent',
      remedy: expect.stringContaining('--wide') as unknown,
    })
  })

  it('withdraws its card when it has no public skill', async () => {
    const hub = await startTestHub()
    const one = await startTestNode({ name: 'one', hub })
    const shy = await startTestNode({ name: 'shy', hub })
    await known(one, shy)
    await shy.stop()
    await updateConfig(shy.dataDir, (config) => ({ ...config, skills: [] }))
    await shy.restart()
    const found = async (): Promise<string[]> =>
      (await one.client.agents.list({ refresh: true, q: 'shy' })).agents.map(({ aid }) => aid)
    await expect.poll(found, patient).toEqual([])
  })
})

describe('files of the operator', () => {
  it('go with a task, and come out as they went in, without their bytes in any view', async () => {
    const hub = await startTestHub()
    const sender = await startTestNode({ name: 'sender', hub })
    const receiver = await startTestNode({ name: 'receiver', hub, trust: [sender.aid] })
    await known(sender, receiver)
    const folder = await testFolder()
    const small = join(folder, 'small.json')
    const large = join(folder, 'large.bin')
    writeFileSync(small, '{"a":1}')
    writeFileSync(large, Buffer.alloc(600_000, 7))
    const { task } = await sender.client.tasks.send({ agent: receiver.aid, text: 'Two files.', files: [small, large] })
    const { items } = await inboxOf(receiver)
    expect(items[0]?.message.parts).toMatchObject([
      { text: 'Two files.' },
      { raw: '', filename: 'small.json', mediaType: 'application/json', metadata: { 'anet.file': { size: 7 } } },
      {
        raw: '',
        filename: 'large.bin',
        mediaType: 'application/octet-stream',
        metadata: { 'anet.file': { size: 600_000 } },
      },
    ])
    const detail = await receiver.client.tasks.get({ id: task.id, requester: sender.aid })
    const seq = detail.entries.find(({ kind }) => kind === 'message')?.seq ?? -1
    const target = join(folder, 'saved.bin')
    const save = { id: task.id, requester: sender.aid, seq, part: 2, path: target }
    expect(await receiver.client.tasks.saveFile(save)).toEqual({ path: target, bytes: 600_000 })
    expect(readFileSync(target).equals(readFileSync(large))).toBe(true)
    await expect(receiver.client.tasks.saveFile(save)).rejects.toMatchObject({ code: 'file_exists' })
    await receiver.client.tasks.saveFile({ ...save, part: 1, overwrite: true })
    expect(readFileSync(target, 'utf8')).toBe('{"a":1}')
    await expect(receiver.client.tasks.saveFile({ ...save, part: 9 })).rejects.toMatchObject({ code: 'part_not_found' })
  })

  it('are refused when they are not regular, not absolute, not there or too large, and nothing is sent', async () => {
    const hub = await startTestHub()
    const sender = await startTestNode({ name: 'sender', hub })
    const folder = await testFolder()
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    const huge = join(folder, 'huge')
    writeFileSync(huge, '')
    truncateSync(huge, 64 * 1024 * 1024 + 1)
    for (const [file, code] of [
      [pipe, 'not_a_regular_file'],
      [folder, 'not_a_regular_file'],
      ['report.txt', 'path_not_absolute'],
      [join(folder, 'nothing'), 'file_not_readable'],
      [huge, 'part_too_large'],
    ] as const) {
      const sending = sender.client.tasks.send({ agent: sender.aid, text: 'x', files: [file] })
      await expect(sending, file).rejects.toMatchObject({ code })
    }
    expect((await sender.client.tasks.list({})).total).toBe(0)
  })
})

describe('the start of a node', () => {
  it('is refused while another holds the directory, which goes on undisturbed', async () => {
    const first = await startTestNode({ name: 'first' })
    await expect(startNode({ dataDir: first.dataDir, kind: 'desktop' })).rejects.toMatchObject({ code: 'node_running' })
    expect(await first.client.node.status({})).toMatchObject({ aid: first.aid, endpoint: { state: 'up' } })
    const { client } = connectControl({ dataDir: first.dataDir })
    expect(await client.node.status({})).toMatchObject({ aid: first.aid })
  })

  it.each([
    ['a damaged key file', 'keys/keys.sealed', 'key_file_damaged'],
    ['a damaged database', 'node.db', 'database_damaged'],
    ['a broken configuration', 'config.json', 'config_invalid'],
  ])('with %s fails by name and leaves nothing behind', async (_, file, code) => {
    const node = await startTestNode({ name: 'node' })
    await node.stop()
    const path = join(node.dataDir, file)
    const before = existsSync(path) ? readFileSync(path) : Buffer.alloc(0)
    writeFileSync(path, Buffer.concat([Buffer.from('garbage '), before.subarray(8)]), { mode: 0o600 })
    await expect(startNode({ dataDir: node.dataDir, kind: 'headless' })).rejects.toMatchObject({ code })
    expect(existsSync(join(node.dataDir, 'node.lock'))).toBe(false)
    expect(existsSync(join(node.dataDir, 'control_token.txt'))).toBe(false)
    writeFileSync(path, before, { mode: 0o600 })
    await node.restart()
    expect((await node.client.node.status({})).aid).toBe(node.aid)
  })

  it('on a directory without an identity names the command that makes one', async () => {
    const dataDir = join(await testFolder(), 'node')
    await expect(startNode({ dataDir, kind: 'headless' })).rejects.toMatchObject({
      code: 'not_initialised',
      remedy: expect.stringContaining('anet init') as unknown,
    })
  })

  it('without the module a2a has no endpoint, and everything else works', async () => {
    const node = await startTestNode({ name: 'node', config: { modules: { a2a: { enabled: false } } } })
    expect(await node.client.endpoint.status({})).toMatchObject({ state: 'disabled', address: null })
    await expect(node.client.endpoint.retry({})).rejects.toMatchObject({ code: 'endpoint_absent' })
    const { checks } = await node.client.node.doctor({})
    expect(checks.find(({ name }) => name === 'endpoint')).toMatchObject({ outcome: 'warn' })
    expect((await node.client.tasks.list({})).total).toBe(0)
  })

  it('goes on with a port conflict as a state', async () => {
    const holder = await startTestNode({ name: 'holder' })
    const { endpoint } = await holder.client.node.status({})
    const dataDir = join(await testFolder(), 'node')
    await setUpNode(dataDir)
    mkdirSync(join(dataDir, 'modules/a2a'), { recursive: true, mode: 0o700 })
    writeFileSync(join(dataDir, 'modules/a2a/a2a_addr.txt'), `${endpoint.address}\n`, { mode: 0o600 })
    const node = await startNode({ dataDir, kind: 'headless' })
    try {
      expect(await node.door.client.node.status({})).toMatchObject({
        endpoint: { state: 'port_conflict', conflict: { address: endpoint.address, holder: { pid: process.pid } } },
      })
      await holder.stop()
      expect(await node.door.client.endpoint.retry({})).toMatchObject({ state: 'up', address: endpoint.address })
    } finally {
      await node.stop()
    }
  })
})

describe('the authority of the two tokens', () => {
  it('is separate: neither is accepted at the other door', async () => {
    const node = await startTestNode({ name: 'node' })
    const { endpoint } = await node.client.node.status({})
    const control = readFileSync(node.node.control.tokenFile, 'utf8').trim()
    const local = readFileSync(endpoint.tokenFile ?? '', 'utf8').trim()
    const status = async (url: string, token: string, body?: string): Promise<number> =>
      (
        await fetch(url, {
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          ...(body === undefined ? {} : { method: 'POST', body }),
        })
      ).status
    const call = `http://${node.node.control.address}/control/v1/call`
    const body = JSON.stringify({ method: 'node.status', input: {} })
    expect(await status(call, control, body)).toBe(200)
    expect(await status(call, local, body)).toBe(401)
    expect(await status(endpoint.agentsUrl ?? '', local)).toBe(200)
    expect(await status(endpoint.agentsUrl ?? '', control)).toBe(401)
  })
})

/** The inbox as soon as something waits in it. */
async function inboxOf(node: Awaited<ReturnType<typeof startTestNode>>): ReturnType<typeof node.client.inbox.list> {
  await node.event((event) => {
    if (event.type === 'inbox' && event.open > 0) return true
    return event.type === 'node' && event.value.counts.inbox > 0 ? true : undefined
  })
  return node.client.inbox.list({})
}
