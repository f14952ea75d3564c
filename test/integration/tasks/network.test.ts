import { describe, expect, it } from 'vitest'
import { restartableHub } from '../../helpers/network-node.ts'
import { known, startTestHub, startTestNode, type TestNode } from '../../helpers/nodes.ts'

async function pair(): Promise<{ asker: TestNode; server: TestNode }> {
  const hub = await startTestHub()
  const server = await startTestNode({ name: 'Server', hub, policy: 'open' })
  const asker = await startTestNode({ name: 'Asker', hub })
  await known(asker, server)
  return { asker, server }
}

/** The item of the server's inbox, once it is there. */
async function item(server: TestNode): Promise<number> {
  for (;;) {
    const arrived = server.event((event) => (event.type === 'inbox' ? true : undefined))
    const { items } = await server.client.inbox.list({ state: 'open', limit: 10 })
    if (items[0] !== undefined) return items[0].id
    await arrived
  }
}

describe('tasks between two whole nodes and a hub', () => {
  it('are answered by the operator, with a question in between', async () => {
    const { asker, server } = await pair()
    const { task } = await asker.client.tasks.send({
      agent: server.aid,
      text: 'a table for two',
      files: [],
      client: 'cli',
    })
    await server.client.inbox.answer({ id: await item(server), kind: 'ask', text: 'when?', files: [] })
    const asked = await asker.task(task.id, ({ state }) => state === 'TASK_STATE_INPUT_REQUIRED')
    expect(asked.entries.at(-1)).toMatchObject({ kind: 'status', status: { message: { parts: [{ text: 'when?' }] } } })
    await asker.client.tasks.send({ agent: server.aid, taskId: task.id, text: 'at eight', files: [], client: 'cli' })
    await server.client.inbox.answer({ id: await item(server), kind: 'complete', text: 'done', files: [] })
    const done = await asker.task(task.id, ({ state }) => state === 'TASK_STATE_COMPLETED')
    expect(done.artifacts).toMatchObject([{ artifactId: 'reply', parts: [{ text: 'done' }] }])
    expect(done.evidence.map(({ kind }) => kind)).toEqual([
      'task.opened',
      'task.delivered',
      'task.accepted',
      'task.completed',
    ])
  })

  it('wait while the hub is away and say so until they have left', async () => {
    const hub = await restartableHub()
    const server = await startTestNode({ name: 'Server', hub, policy: 'open' })
    const asker = await startTestNode({ name: 'Asker', hub })
    await known(asker, server)
    const away = asker.event((event) =>
      event.type === 'node' && event.value.join.state === 'hub_unreachable' ? true : undefined,
    )
    await hub.stop()
    await away
    const { task } = await asker.client.tasks.send({ agent: server.aid, text: 'later', files: [], client: 'cli' })
    expect(task).toMatchObject({ state: 'TASK_STATE_SUBMITTED', reason: 'hub_unreachable' })
    await hub.start()
    const left = await asker.task(task.id, ({ reason }) => reason !== 'hub_unreachable')
    expect(left.state).toBe('TASK_STATE_SUBMITTED')
    await server.client.inbox.answer({ id: await item(server), kind: 'complete', text: 'now', files: [] })
    await asker.task(task.id, ({ state }) => state === 'TASK_STATE_COMPLETED')
  })

  it('go on after both nodes were restarted', async () => {
    const { asker, server } = await pair()
    const { task } = await asker.client.tasks.send({ agent: server.aid, text: 'slowly', files: [], client: 'cli' })
    const id = await item(server)
    await server.restart()
    await asker.restart()
    await server.client.inbox.answer({ id, kind: 'complete', text: 'still here', files: [] })
    const done = await asker.task(task.id, ({ state }) => state === 'TASK_STATE_COMPLETED')
    expect(done.artifacts).toMatchObject([{ parts: [{ text: 'still here' }] }])
  })
})
