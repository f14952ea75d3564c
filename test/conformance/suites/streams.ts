import { GetTaskRequest, SubscribeToTaskRequest } from '@a2a-js/sdk'
import { expect, test } from 'vitest'
import { artifactTexts, immediately, nextEvent, request, seenAll, wire } from '../../helpers/sdk-client.ts'
import { longText, type SdkDesk } from './desk.ts'

const subscription = (id: string) => SubscribeToTaskRequest.fromJSON({ id })

/** Streams of a send and of a subscription. */
export function streams(desk: SdkDesk): void {
  test('streams the task, then its artifacts, then its end, and closes', async () => {
    const client = await desk.client('Echo')
    const events = await seenAll(client.sendMessageStream(request(longText)))
    expect(events[0]).toMatchObject({ what: 'task' })
    expect(events.slice(1).some(({ what }) => what === 'task')).toBe(false)
    expect(new Set(events.map(({ taskId }) => taskId)).size).toBe(1)
    expect(events.at(-1)).toMatchObject({ what: 'status', state: 'TASK_STATE_COMPLETED' })
    const artifacts = events.filter(({ what }) => what === 'artifact')
    expect(new Set(artifacts.map(({ artifactId }) => artifactId)).size).toBe(2)
    const reply = artifacts.filter(({ artifactId }) => artifactId === artifacts[0]?.artifactId)
    expect(reply.map(({ text }) => text).join('')).toBe(longText)
    expect(events.findLastIndex(({ what }) => what === 'artifact')).toBe(events.length - 2)

    // the file is named on the stream; its bytes come with GetTask
    expect(artifacts.at(-1)?.json).toContain('echo.txt')
    const task = wire(await client.getTask(GetTaskRequest.fromJSON({ id: events[0]?.taskId })))
    expect(task.artifacts?.[1]?.parts[0]?.raw).toBe(Buffer.from(longText).toString('base64'))
  })

  test('a stream closes at a question, and the answer streams on', async () => {
    const client = await desk.client('Asker')
    const asked = await seenAll(client.sendMessageStream(request('An invitation')))
    expect(asked.at(-1)).toMatchObject({
      what: 'status',
      state: 'TASK_STATE_INPUT_REQUIRED',
      text: 'For whom is it?',
    })
    const taskId = asked[0]?.taskId ?? ''
    // a new stream of the task that waits: the task with its question, and no more
    const waiting = await seenAll(client.resubscribeTask(subscription(taskId)))
    expect(waiting).toMatchObject([{ what: 'task', state: 'TASK_STATE_INPUT_REQUIRED' }])
    expect(waiting[0]?.json).toContain('For whom is it?')

    const answered = await seenAll(client.sendMessageStream(request('Ann', { taskId })))
    expect(answered[0]).toMatchObject({ what: 'task', taskId })
    expect(answered.at(-2)).toMatchObject({ what: 'artifact', text: 'For Ann: An invitation' })
    expect(answered.at(-1)).toMatchObject({ what: 'status', state: 'TASK_STATE_COMPLETED' })
  })

  test('after a drop in the middle it subscribes again and misses nothing', async () => {
    const client = await desk.client('Echo')
    const drop = new AbortController()
    const dropped = client.sendMessageStream(request(longText), { signal: drop.signal })
    const { taskId } = await nextEvent(dropped)
    drop.abort()
    await expect(seenAll(dropped)).rejects.toThrow()

    const events = await seenAll((await desk.client('Echo')).resubscribeTask(subscription(taskId)))
    expect(events[0]).toMatchObject({ what: 'task', taskId })
    expect(events.at(-1)).toMatchObject({ what: 'status', state: 'TASK_STATE_COMPLETED' })
    expect(events.map(({ json }) => json).join('')).toContain(longText)
  })

  test('two streams of one task tell the same in the same order', async () => {
    const client = await desk.client('Echo')
    const { id } = wire(await client.sendMessage(immediately(longText)))
    const both = [client.resubscribeTask(subscription(id)), client.resubscribeTask(subscription(id))]
    const [first = [], second = []] = await Promise.all(both.map((stream) => seenAll(stream)))
    const told = (events: typeof first) => events.filter(({ what }) => what === 'artifact').map(({ json }) => json)
    expect(told(first)).toHaveLength(2)
    expect(told(first)).toEqual(told(second))
    expect(first.at(-1)?.json).toBe(second.at(-1)?.json)
    const task = wire(await client.getTask(GetTaskRequest.fromJSON({ id })))
    expect(artifactTexts(task)[0]).toBe(longText)
  })
}
