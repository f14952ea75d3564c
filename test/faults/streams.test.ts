import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OperationError, type WireEvent, type WireTask } from '../helpers/faults/endpoint-client.ts'
import { type FaultyNetwork, startFaultyNetwork } from '../helpers/faults/network.ts'
import { reasonsOf, replyOf, settled, terminal } from '../helpers/faults/workload.ts'

let network: FaultyNetwork

beforeAll(async () => {
  network = await startFaultyNetwork()
})

afterAll(() => network.stop())

/** The task as a client makes it of a stream: the snapshot first, then each update. */
function follow(task: WireTask | undefined, event: WireEvent): WireTask {
  if ('task' in event) return event.task
  if (task === undefined) throw new Error('the first event of a stream is the task')
  if ('statusUpdate' in event) {
    const { status, metadata } = event.statusUpdate
    return { ...task, status, metadata: { ...task.metadata, ...metadata } }
  }
  const { artifact, append } = event.artifactUpdate
  const known = task.artifacts.find(({ artifactId }) => artifactId === artifact.artifactId)
  const parts = append ? [...(known?.parts ?? []), ...artifact.parts] : artifact.parts
  const others = task.artifacts.filter((other) => other !== known)
  return { ...task, artifacts: [...others, { ...artifact, parts }] }
}

/** Subscribes, and again whenever the stream breaks, until the task has ended. Counts the subscriptions. */
async function watch(id: string, onTask: (task: WireTask) => void): Promise<{ task: WireTask; subscriptions: number }> {
  for (let subscriptions = 1; ; subscriptions += 1) {
    let task: WireTask | undefined
    try {
      for await (const event of network.client.subscribe(id)) {
        task = follow(task, event)
        onTask(task)
      }
    } catch (error) {
      if (error instanceof OperationError) throw error
    }
    if (task !== undefined && terminal.has(task.status.state)) return { task, subscriptions }
  }
}

describe('a stream that is open when a process is killed', () => {
  test.each([
    ['operator', 'TASK_STATE_COMPLETED undefined', 'again'],
    ['hub', 'TASK_STATE_COMPLETED undefined', 'on'],
    ['provider', 'TASK_STATE_FAILED backend_outcome_unknown', 'on'],
    ['agent', 'TASK_STATE_FAILED backend_outcome_unknown', 'on'],
  ] as const)('%s: ends with everything (%s), followed %s', async (who, outcome, followed) => {
    const { client, programs } = network
    const text = `hold for ${who}`
    const begun = network.agentHasSeen(1)
    const { id } = await client.send({ text })
    await begun
    let first = (): void => {}
    const subscribed = new Promise<void>((resolve) => (first = resolve))
    const watching = watch(id, () => first())
    await subscribed
    await programs[who].kill()
    await programs[who].up()
    network.release(text)
    const { task, subscriptions } = await watching
    expect([...reasonsOf([task])]).toEqual([outcome])
    expect(subscriptions > 1).toBe(followed === 'again')
    const final = await settled(client, id)
    expect({ status: task.status, reply: replyOf(task) }).toEqual({ status: final.status, reply: replyOf(final) })
    if (outcome.startsWith('TASK_STATE_COMPLETED')) expect(replyOf(task)).toBe(`answer to ${text}`)
  })
})
