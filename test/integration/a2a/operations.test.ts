import { describe, expect, test } from 'vitest'
import { at, hello, rest, rpcError } from '../../helpers/endpoint-calls.ts'
import { endpointDesk } from '../../helpers/endpoint-desk.ts'

describe('operations', () => {
  test('a send waits until the task settles, unless told to return at once', async () => {
    const desk = await endpointDesk()
    const now = await desk.rpc('SendMessage', { ...hello, configuration: at })
    expect((await now.json()).result.task.status.state).toBe('TASK_STATE_SUBMITTED')
    const states = [
      'TASK_STATE_COMPLETED',
      'TASK_STATE_INPUT_REQUIRED',
      'TASK_STATE_AUTH_REQUIRED',
      'TASK_STATE_FAILED',
    ] as const
    for (const state of states) {
      const opened = new Promise<string>((resolve) => {
        desk.tasks.onOpened = resolve
      })
      const blocking = rest(desk, 'message:send', { body: { message: { ...hello.message, messageId: state } } })
      const id = await opened
      desk.tasks.status(id, 'TASK_STATE_WORKING')
      desk.tasks.artifact(id, { artifactId: 'a', parts: [{ text: 'answer' }] })
      desk.tasks.status(id, state)
      const { task } = await (await blocking).json()
      expect(task).toMatchObject({ id, status: { state }, artifacts: [{ parts: [{ text: 'answer' }] }] })
      expect(task.metadata['anet.state_seq']).toBe(4)
    }
  })

  test('a client that leaves a blocking send changes nothing and leaves nothing behind', async () => {
    const desk = await endpointDesk()
    const opened = new Promise<string>((resolve) => {
      desk.tasks.onOpened = resolve
    })
    const controller = new AbortController()
    const blocking = fetch(`${desk.url()}/rest/message:send`, {
      method: 'POST',
      headers: { ...desk.headers, 'content-type': 'application/json' },
      body: JSON.stringify(hello),
      signal: controller.signal,
    })
    const id = await opened
    await expect.poll(() => desk.tasks.subscriptions).toBe(1)
    controller.abort()
    await expect(blocking).rejects.toThrow()
    await expect.poll(() => desk.tasks.subscriptions).toBe(0)
    await expect.poll(() => desk.module.counts().requests).toBe(0)
    desk.tasks.status(id, 'TASK_STATE_COMPLETED')
    expect((await (await desk.rpc('GetTask', { id })).json()).result.status.state).toBe('TASK_STATE_COMPLETED')
  })

  test('historyLength: absent is everything, 0 omits the field, N is the newest N', async () => {
    const desk = await endpointDesk()
    const id = desk.tasks.open()
    for (const text of ['two', 'three']) {
      await desk.rpc('SendMessage', {
        message: { ...hello.message, messageId: text, taskId: id, parts: [{ text }] },
        configuration: at,
      })
    }
    const history = async (query: string) => (await (await rest(desk, `tasks/${id}${query}`)).json()).history
    expect(await history('')).toHaveLength(3)
    expect(await history('?historyLength=0')).toBeUndefined()
    expect((await history('?history_length=1')).map(({ messageId }: { messageId: string }) => messageId)).toEqual([
      'three',
    ])
    expect(await history('?historyLength=99')).toHaveLength(3)
    expect((await rest(desk, `tasks/${id}?historyLength=-1`)).status).toBe(400)
    expect((await rest(desk, `tasks/${id}?historyLength=x`)).status).toBe(400)
    expect((await (await desk.rpc('GetTask', { id, historyLength: 2 })).json()).result.history).toHaveLength(2)
  })

  test('a task that is read again after it changed is the new one', async () => {
    const desk = await endpointDesk()
    const id = desk.tasks.open()
    const state = async () => (await (await desk.rpc('GetTask', { id })).json()).result.status.state
    expect([await state(), await state()]).toEqual(['TASK_STATE_SUBMITTED', 'TASK_STATE_SUBMITTED'])
    desk.tasks.status(id, 'TASK_STATE_WORKING')
    expect(await state()).toBe('TASK_STATE_WORKING')
  })

  test('ListTasks: pages, totals, filters', async () => {
    const desk = await endpointDesk()
    const ids: string[] = []
    for (let count = 0; count < 5; count += 1) {
      desk.tasks.time += 1000
      ids.unshift(desk.tasks.open({ contextId: count % 2 === 0 ? 'even' : 'odd' }))
    }
    desk.tasks.artifact(ids[0] ?? '', { artifactId: 'a', parts: [{ raw: 'aGVsbG8=', filename: 'f' }] })
    desk.tasks.status(ids[0] ?? '', 'TASK_STATE_COMPLETED')
    const list = async (query: string) => (await rest(desk, `tasks${query}`)).json()
    const all = await list('')
    expect(all).toMatchObject({ pageSize: 50, totalSize: 5, nextPageToken: '' })
    expect(all.tasks.map(({ id }: { id: string }) => id)).toEqual(ids)
    expect(all.tasks[0]).not.toHaveProperty('artifacts')
    expect(all.tasks[0]).not.toHaveProperty('history')
    const first = await list('?pageSize=2')
    expect(first).toMatchObject({ pageSize: 2, totalSize: 5 })
    expect(first.nextPageToken).not.toBe('')
    const second = await list(`?page_size=2&page_token=${first.nextPageToken}`)
    const third = await list(`?pageSize=2&pageToken=${second.nextPageToken}`)
    expect([...first.tasks, ...second.tasks, ...third.tasks].map(({ id }) => id)).toEqual(ids)
    expect(third.nextPageToken).toBe('')
    expect((await list('?contextId=odd')).totalSize).toBe(2)
    expect((await list('?status=TASK_STATE_COMPLETED')).tasks.map(({ id }: { id: string }) => id)).toEqual([ids[0]])
    expect((await list('?status=TASK_STATE_UNSPECIFIED')).totalSize).toBe(5)
    expect((await list('?statusTimestampAfter=2026-01-01T00:00:04.000Z')).totalSize).toBe(2)
    expect((await list('?statusTimestampAfter=2026-01-01T00:00:04.0001Z')).totalSize).toBe(1)
    expect((await list('?statusTimestampAfter=2026-01-01T01:00:04.000%2B01:00')).totalSize).toBe(2)
    const whole = await list('?includeArtifacts=true&historyLength=1')
    expect(whole.tasks[0].artifacts[0].parts[0]).toEqual({ raw: 'aGVsbG8=', filename: 'f' })
    expect(whole.tasks[1]).toMatchObject({ artifacts: [], history: [{}] })
    for (const wrong of [
      'pageSize=0',
      'pageSize=101',
      'pageSize=x',
      'pageSize=-1',
      'status=DONE',
      'statusTimestampAfter=now',
      'pageToken=zzz',
      'includeArtifacts=maybe',
    ]) {
      expect((await rest(desk, `tasks?${wrong}`)).status, wrong).toBe(400)
    }
    expect((await rpcError(await desk.rpc('ListTasks', { pageSize: 101 }))).code).toBe(-32602)
  })

  test('cancel answers the task; repeating it has the same effect', async () => {
    const desk = await endpointDesk()
    const id = desk.tasks.open()
    expect((await (await desk.rpc('CancelTask', { id })).json()).result.id).toBe(id)
    expect((await rest(desk, `tasks/${id}:cancel`, { body: { metadata: { why: 'enough' } } })).status).toBe(200)
  })

  test('GetTask has the bytes of files that lie in sealed files; the client is not sent its own upload', async () => {
    const desk = await endpointDesk()
    const id = desk.tasks.open()
    const file = { name: 'sealed', key: 'k', size: 5, sha256: 'd' }
    desk.tasks.files.set('sealed', 'aGVsbG8=')
    desk.tasks.artifact(id, { artifactId: 'a', parts: [{ large: { field: 'raw', file }, filename: 'f.bin' }] })
    const task = (await (await desk.rpc('GetTask', { id })).json()).result
    expect(task.artifacts[0].parts).toEqual([{ raw: 'aGVsbG8=', filename: 'f.bin' }])
  })
})
