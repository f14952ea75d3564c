import { expect } from 'vitest'
import type { NodeClient } from '@shared/contract/index.ts'
import { isAnetError } from '@shared/errors.ts'
import { connectControl } from '../../../src-main/node/control/index.ts'
import type { EndpointClient, Sending, WireTask } from './endpoint-client.ts'
import { checksOf, type FaultyNetwork, type FaultyNode } from './network.ts'

/** A message that was accepted, and the task that it got. */
export interface Sent {
  readonly sending: Sending
  readonly id: string
}

export const terminal: ReadonlySet<string> = new Set([
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
])

/** So many texts, each other one in a context of its own. */
export function textsOf(round: string, count: number): Sending[] {
  return Array.from({ length: count }, (_, index) => ({
    text: `${round}: text ${index}`,
    messageId: `${round} message ${index}`,
    ...(index % 2 === 0 ? {} : { contextId: `${round} context ${index}` }),
  }))
}

/** Sends them, eight at a time, through whatever happens; each is repeated until it is accepted. */
export async function sendAll(network: FaultyNetwork, sendings: readonly Sending[]): Promise<Sent[]> {
  const sent: Sent[] = []
  const left = [...sendings]
  const line = async (): Promise<void> => {
    for (let sending = left.shift(); sending !== undefined; sending = left.shift()) {
      sent.push({ sending, id: (await network.client.send(sending)).id })
    }
  }
  await Promise.all(Array.from({ length: 8 }, line))
  return sent
}

/** Resolves with the tasks, by id, when all have ended. */
async function ended(network: FaultyNetwork, ids: readonly string[], within = 45_000) {
  const tasks = new Map<string, WireTask>()
  const open = (): string[] => ids.filter((id) => !terminal.has(tasks.get(id)?.status.state ?? ''))
  for (const until = Date.now() + within; open().length > 0;) {
    for (const task of await network.client.tasks()) tasks.set(task.id, task)
    if (Date.now() > until) {
      throw new Error(
        `stuck: ${open()
          .map((id) => `${id} ${tasks.get(id)?.status.state ?? 'lost'}`)
          .join(', ')}`,
      )
    }
  }
  for (const id of ids) tasks.set(id, await network.client.task(id))
  return tasks
}

export function replyOf(task: WireTask | undefined): string {
  const reply = task?.artifacts.find(({ artifactId }) => artifactId === 'reply') ?? task?.artifacts[0]
  return (reply?.parts ?? []).map(({ text = '' }) => text).join('')
}

/**
 * What must hold of every run: nothing lost, doubled or stuck, and the evidence of both nodes whole. Returns the tasks
 * that did not complete, with their reasons.
 */
export async function expectSound(network: FaultyNetwork, sent: readonly Sent[]): Promise<WireTask[]> {
  const ids = sent.map(({ id }) => id)
  expect(new Set(ids).size, 'two messages got one task').toBe(ids.length)
  const tasks = await ended(network, ids)
  const texts = await network.texts()
  const failed: WireTask[] = []
  for (const { sending, id } of sent) {
    const task = tasks.get(id)
    const times = texts.filter((text) => text === sending.text.slice(0, 200)).length
    if (task?.status.state === 'TASK_STATE_COMPLETED') {
      expect([sending.text, times, replyOf(task)]).toEqual([sending.text, 1, `answer to ${sending.text}`])
    } else {
      expect(times, sending.text).toBeLessThanOrEqual(1)
      if (task !== undefined) failed.push(task)
    }
  }
  // what is sent again is known, and makes nothing new
  const before = await network.client.tasks()
  const again = await sendAll(
    network,
    sent.map(({ sending }) => sending),
  )
  expect(new Map(again.map(({ sending, id }) => [sending.text, id]))).toEqual(
    new Map(sent.map(({ sending, id }) => [sending.text, id])),
  )
  expect((await network.client.tasks()).length).toBe(before.length)
  await expectSameAtProvider(network, tasks)
  for (const node of [network.operator, network.provider]) {
    const checks = await checksOf(node)
    expect(checks.find(({ name }) => name === 'database')).toMatchObject({ outcome: 'ok' })
    expect(checks.find(({ name }) => name === 'hub')).toMatchObject({ outcome: 'ok' })
  }
  return failed
}

/** The provider knows each task once, in the state that the operator sees. */
async function expectSameAtProvider(network: FaultyNetwork, tasks: ReadonlyMap<string, WireTask>): Promise<void> {
  const control = connectControl({ dataDir: network.provider.dataDir })
  try {
    const states = new Map<string, string>()
    for (let cursor = ''; ;) {
      const page = await control.client.tasks.list({
        direction: 'in',
        limit: 200,
        ...(cursor === '' ? {} : { cursor }),
      })
      for (const { id, state } of page.tasks) {
        expect(states.has(id), `${id} twice at the provider`).toBe(false)
        states.set(id, state)
      }
      cursor = page.nextCursor
      if (cursor === '') break
    }
    expect(new Map([...tasks.keys()].map((id) => [id, states.get(id)]))).toEqual(
      new Map([...tasks].map(([id, task]) => [id, task.status.state])),
    )
  } finally {
    control.close()
  }
}

export function reasonsOf(tasks: readonly WireTask[]): Set<string> {
  return new Set(tasks.map(({ status, metadata }) => `${status.state} ${String(metadata['anet.reason'])}`))
}

/** Resolves with the task when it has ended or waits for an answer. */
export async function settled(client: EndpointClient, id: string, within = 45_000): Promise<WireTask> {
  for (const until = Date.now() + within; ;) {
    const task = await client.task(id)
    if (terminal.has(task.status.state) || task.status.state === 'TASK_STATE_INPUT_REQUIRED') return task
    if (Date.now() > until) throw new Error(`stuck: ${id} ${task.status.state}`)
  }
}

/** Repeats a call at a node's control plane while the node is away. */
export async function persistently<T>(node: FaultyNode, call: (client: NodeClient) => Promise<T>): Promise<T> {
  const control = connectControl({ dataDir: node.dataDir })
  try {
    for (;;) {
      await node.program.up()
      try {
        return await call(control.client)
      } catch (error) {
        if (!isAnetError(error, 'node_not_running', 'node_connection_lost')) throw error
      }
    }
  } finally {
    control.close()
  }
}
