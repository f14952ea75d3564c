import { expect } from 'vitest'
import { isAnetError } from '@shared/errors.ts'
import { EndpointClient, OperationError, type WireTask } from './endpoint-client.ts'
import type { FaultyNetwork } from './network.ts'
import { persistently, reasonsOf, replyOf, settled, terminal } from './workload.ts'

/** What a task may end with when the provider was killed while its agent had it. */
export const outcomeUnknown = 'TASK_STATE_FAILED backend_outcome_unknown'

const reasonOf = (task: WireTask): string => [...reasonsOf([task])].join('')

/** A question of the agent and its answer. */
export async function dialogue(network: FaultyNetwork, round: string): Promise<void> {
  const { client } = network
  const asked = await settled(client, (await client.send({ text: `ask ${round}`, messageId: `${round} ask` })).id)
  if (asked.status.state !== 'TASK_STATE_INPUT_REQUIRED') {
    expect(reasonOf(asked)).toBe(outcomeUnknown)
    return
  }
  const text = `${round}: this one`
  await client.send({ text, taskId: asked.id, contextId: asked.contextId, messageId: `${round} answer` })
  const { status, ...task } = await ended(client, asked.id)
  if (status.state === 'TASK_STATE_COMPLETED') expect(replyOf({ status, ...task })).toBe(`answer to ${text}`)
  else expect(reasonOf({ status, ...task })).toBe(outcomeUnknown)
}

/** A task that is canceled while the agent works on it, and one whose cancel overtakes its large text. */
export async function cancellations(network: FaultyNetwork, round: string): Promise<void> {
  const { client } = network
  const sending = { text: `hold ${round}`, messageId: `${round} hold` }
  const large = { text: `hold large ${round}`.padEnd(1_200_000, 'x'), messageId: `${round} hold large` }
  await Promise.all(
    [sending, large].map(async (message) => {
      const { id } = await client.send(message)
      if (message === sending) await begun(network, sending.text, id)
      await client.cancel(id).catch(onlyEnded)
      expect(['TASK_STATE_CANCELED undefined', outcomeUnknown]).toContain(reasonOf(await settled(client, id)))
    }),
  )
}

/** Resolves when the agent has the text, or the task has ended without it. */
async function begun({ client, texts }: FaultyNetwork, text: string, id: string): Promise<void> {
  while (!(await texts()).includes(text) && !terminal.has((await client.task(id)).status.state));
}

/** A task with a file, which waits for the provider's operator, who completes it. */
export async function answerByHand(network: FaultyNetwork, round: string): Promise<void> {
  const { client, provider } = network
  const { id } = await client.send({ text: `file ${round}`, file: 'a,b\n', messageId: `${round} file` })
  const item = await persistently(provider, async ({ inbox }) => {
    for (;;) {
      const { items } = await inbox.list({ state: 'all', limit: 200 })
      const found = items.find(({ task }) => task.id === id)
      if (found !== undefined) return found.id
    }
  })
  await persistently(provider, ({ inbox }) =>
    inbox.answer({ id: item, kind: 'complete', text: `done ${round}` }),
  ).catch((error: unknown) => {
    // the answer was written before the node was killed
    if (!isAnetError(error)) throw error
  })
  const task = await settled(client, id)
  expect([task.status.state, replyOf(task)]).toEqual(['TASK_STATE_COMPLETED', `done ${round}`])
}

/** A task that the operator's node, closed to the provider, refuses. */
export async function refusal(network: FaultyNetwork, round: string): Promise<void> {
  const client = new EndpointClient(network.provider.dataDir, network.operator.aid)
  const { id } = await client.send({ text: `refuse ${round}`, messageId: `${round} refuse` })
  expect(reasonOf(await settled(client, id))).toBe('TASK_STATE_REJECTED not_accepting')
}

async function ended(client: EndpointClient, id: string): Promise<WireTask> {
  for (;;) {
    const task = await settled(client, id)
    if (task.status.state !== 'TASK_STATE_INPUT_REQUIRED') return task
  }
}

function onlyEnded(error: unknown): void {
  if (!(error instanceof OperationError)) throw error
}
