import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { JoinStateView } from '@shared/contract/index.ts'
import { isAnetError } from '@shared/errors.ts'
import { configure, createNode, type FaultyNode, hubProgram, joined } from '../helpers/faults/network.ts'
import { isFullRun } from '../helpers/faults/points.ts'
import { persistently } from '../helpers/faults/workload.ts'
import { anetJson } from '../helpers/anet-command.ts'

async function hubAndNode() {
  const folder = await mkdtemp(join(tmpdir(), 'anet-faults-'))
  const hub = hubProgram(join(folder, 'hub'))
  const node = await createNode('node', join(folder, 'node'))
  await configure(node, { agent: { name: 'First' }, skills: [{ id: 'text', name: 'Text' }] })
  onTestFinished(async () => {
    await node.program.stop()
    await hub.program.stop()
    await rm(folder, { recursive: true, force: true })
  })
  const members = async (): Promise<unknown> =>
    (await anetJson<{ members: unknown }>(['hub', 'status', '--data', join(folder, 'hub')])).members
  return { hub, node, members }
}

/** Joins as a person would: again, as long as the node or the hub dies of it. */
function joinAt(node: FaultyNode, hub: { url: string; aid: string }): Promise<JoinStateView> {
  return persistently(node, async (client) => {
    for (;;) {
      try {
        return await client.hub.join(hub)
      } catch (error) {
        if (!isAnetError(error, 'hub_unreachable')) throw error
      }
    }
  })
}

const points = isFullRun
  ? (['join.accepted', 'join.stored', 'hub.join.committed'] as const)
  : (['join.accepted'] as const)

const publishing = isFullRun ? (['publish.sent', 'hub.publish.committed'] as const) : (['publish.sent'] as const)

describe('joining a hub', () => {
  test.each(points)('is done once, killed at %s', async (point) => {
    const { hub, node, members } = await hubAndNode()
    const isOfHub = point.startsWith('hub.')
    const view = await hub.start(isOfHub ? point : undefined)
    await node.program.start(isOfHub ? undefined : point)
    expect(await joinAt(node, view)).toMatchObject({ state: 'joined', registered: true })
    expect((isOfHub ? hub.program : node.program).deaths).toBe(1)
    expect(await members()).toBe(1)
    const status = await persistently(node, (client) => client.node.status({}))
    expect(status.aid).toBe(node.aid)
  })

  test.each(publishing)('and publishing a new card is done in the end, killed at %s', async (point) => {
    const { hub, node } = await hubAndNode()
    const reader = await createNode('reader', `${node.dataDir}-2`)
    onTestFinished(() => reader.program.stop())
    const view = await hub.start()
    await Promise.all([node.program.start(), reader.program.start()])
    await Promise.all([joinAt(node, view), joinAt(reader, view)])
    await node.program.stop()
    await configure(node, { agent: { name: 'Second' } })
    const isOfHub = point.startsWith('hub.')
    if (isOfHub) await hub.program.restart(point)
    await node.program.start(isOfHub ? undefined : point)
    await persistently(reader, async (client) => {
      for (;;) {
        const { agents } = await client.agents.list({ refresh: true }).catch(() => ({ agents: [] }))
        if (agents.some(({ name }) => name === 'Second')) return
      }
    })
    await joined(node)
    expect((isOfHub ? hub.program : node.program).deaths).toBe(1)
  })

  test('at a hub that was killed while it made its identity finds one hub', async () => {
    const { hub, node } = await hubAndNode()
    const { aid, url } = await hub.start('hub.identity.saved')
    expect(hub.program.deaths).toBe(1)
    await hub.program.restart()
    await node.program.start()
    expect(await joinAt(node, { url, aid })).toMatchObject({ state: 'joined', hub: { aid } })
  })
})
