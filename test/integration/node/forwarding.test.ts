import { expect, it } from 'vitest'
import type { NodeEvent } from '@shared/contract/index.ts'
import { forwardingPair } from '../../helpers/forwarding-pair.ts'
import { artifactUpdate, type Script, statusUpdate, task } from '../../helpers/scripted-backend.ts'

/** Takes a message, says that it works on it, and leaves the rest to the test. */
const working: Script = (call) => call.event({ task: task('TASK_STATE_WORKING') })

it('shows a reply that is still being written to who listens, and the finished one in the task', async () => {
  const { operator, provider, backend } = await forwardingPair(working)
  const previews: NodeEvent[] = []
  const previewed = operator.event((event) => (event.type === 'preview' ? previews.push(event) : undefined))
  const { task: sent } = await operator.client.tasks.send({ agent: provider.aid, text: 'Write me something.' })
  const call = await backend.called('SendStreamingMessage')
  call.event(artifactUpdate('Once upon', { lastChunk: false }))
  await previewed
  expect(previews[0]).toMatchObject({ taskId: sent.id, requester: operator.aid })
  expect(JSON.stringify(previews[0])).toContain('Once upon')
  call.event(artifactUpdate(' a time.', { append: true, lastChunk: true }))
  call.event(statusUpdate('TASK_STATE_COMPLETED'))
  call.response.end()
  expect((await operator.client.tasks.wait({ id: sent.id })).state).toBe('TASK_STATE_COMPLETED')
  const { artifacts } = await operator.client.tasks.get({ id: sent.id })
  expect(artifacts.map(({ parts }) => parts.map((part) => part.text).join(''))).toEqual(['Once upon a time.'])
})

it('does not stop while a backend works, unless it is forced to', async () => {
  const { operator, provider, backend } = await forwardingPair(working)
  const { task: sent } = await operator.client.tasks.send({ agent: provider.aid, text: 'Take your time.' })
  await backend.called('SendStreamingMessage')
  expect(await provider.client.node.stop({})).toEqual({ stopping: false, inFlight: [sent.id] })
  expect((await provider.client.node.status({})).aid).toBe(provider.aid)
  expect(await provider.client.node.stop({ force: true })).toEqual({ stopping: true, inFlight: [sent.id] })
  await provider.node.stopped
})
