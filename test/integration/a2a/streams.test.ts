import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { extensionUris, type StreamResponse } from '@shared/a2a/index.ts'
import { type EndpointDesk, endpointDesk } from '../../helpers/endpoint-desk.ts'
import { RawConnection } from '../../helpers/raw-http.ts'

const MiB = 1024 * 1024
const hello = { message: { role: 'ROLE_USER', messageId: 'm-1', parts: [{ text: 'hello' }] } }

/** The events of a stream as they come; comment lines are left out. */
class Events {
  readonly #reader: ReadableStreamDefaultReader<string>
  #text = ''
  /** Size of the largest event so far, in bytes. */
  largest = 0

  constructor(answer: Response) {
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/event-stream')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    if (answer.body === null) throw new Error('no body')
    this.#reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  }

  /** Undefined at the end of the stream. */
  async next(): Promise<StreamResponse | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end >= 0) {
        const block = this.#text.slice(0, end)
        this.#text = this.#text.slice(end + 2)
        if (block.startsWith(':')) continue
        expect(block).toMatch(/^data: [^\n]*$/)
        this.largest = Math.max(this.largest, Buffer.byteLength(block) + 2)
        return JSON.parse(block.slice('data: '.length))
      }
      const { done, value } = await this.#reader.read()
      if (done) return undefined
      this.#text += value
    }
  }

  async rest(): Promise<StreamResponse[]> {
    const events: StreamResponse[] = []
    for (let event = await this.next(); event !== undefined; event = await this.next()) events.push(event)
    return events
  }

  leave(): Promise<void> {
    return this.#reader.cancel()
  }
}

async function subscribe(desk: EndpointDesk, id: string, headers: Record<string, string> = {}): Promise<Events> {
  return new Events(
    await fetch(`${desk.url()}/rest/tasks/${id}:subscribe`, {
      method: 'POST',
      headers: { ...desk.headers, ...headers },
    }),
  )
}

const kinds = (events: readonly StreamResponse[]): string[] =>
  events.map((event) => ('statusUpdate' in event ? event.statusUpdate.status.state : (Object.keys(event)[0] ?? '')))

describe('a stream', () => {
  test('begins with the task, brings artifacts before the terminal status, and closes there', async () => {
    const desk = await endpointDesk()
    desk.tasks.onOpened = (id) => {
      setImmediate(() => {
        desk.tasks.status(id, 'TASK_STATE_WORKING')
        desk.tasks.artifact(id, { artifactId: 'reply', parts: [{ text: 'answer' }] })
        desk.tasks.artifact(id, {
          artifactId: 'file',
          parts: [{ raw: 'aGVsbG8=', filename: 'f.bin', mediaType: 'x/y' }],
        })
        desk.tasks.status(id, 'TASK_STATE_COMPLETED')
      })
    }
    const events = new Events(
      await fetch(`${desk.url()}/rest/message:stream`, {
        method: 'POST',
        headers: { ...desk.headers, 'content-type': 'application/json' },
        body: JSON.stringify(hello),
      }),
    )
    const all = await events.rest()
    expect(kinds(all).at(0)).toBe('task')
    expect(kinds(all).slice(-3)).toEqual(['artifactUpdate', 'artifactUpdate', 'TASK_STATE_COMPLETED'])
    const file = all.flatMap((event) => ('artifactUpdate' in event ? event.artifactUpdate.artifact.parts : []))[1]
    expect(file).toEqual({
      raw: '',
      filename: 'f.bin',
      mediaType: 'x/y',
      metadata: {
        'anet.file': { size: 5, sha256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824' },
      },
    })
    expect(desk.tasks.subscriptions).toBe(0)
  })

  test('over JSON-RPC every event is a whole answer with the id', async () => {
    const desk = await endpointDesk()
    const id = desk.tasks.open()
    const answer = await desk.rpc('SubscribeToTask', { id })
    const events = new Events(answer)
    expect(await events.next()).toMatchObject({ jsonrpc: '2.0', id: 1, result: { task: { id } } })
    desk.tasks.status(id, 'TASK_STATE_COMPLETED')
    expect(await events.rest()).toEqual([
      expect.objectContaining({ id: 1, result: { statusUpdate: expect.objectContaining({ taskId: id }) } }),
    ])
  })

  test('closes when the client is asked something, and stays open for AUTH_REQUIRED', async () => {
    const desk = await endpointDesk()
    const id = desk.tasks.open()
    const events = await subscribe(desk, id)
    await events.next()
    desk.tasks.status(id, 'TASK_STATE_AUTH_REQUIRED')
    const question = { messageId: 'q', role: 'ROLE_AGENT' as const, parts: [{ text: 'Which one?' }] }
    desk.tasks.status(id, 'TASK_STATE_INPUT_REQUIRED', question)
    const all = await events.rest()
    expect(kinds(all)).toEqual(['TASK_STATE_AUTH_REQUIRED', 'TASK_STATE_INPUT_REQUIRED'])
    expect(all[1]).toMatchObject({ statusUpdate: { status: { message: question } } })
    expect(await (await subscribe(desk, id)).rest()).toEqual([
      expect.objectContaining({ task: expect.objectContaining({ id }) }),
    ])
  })

  test('all streams of a task get the same events in the same order; one that leaves disturbs none', async () => {
    const desk = await endpointDesk()
    const id = desk.tasks.open()
    const streams = await Promise.all([subscribe(desk, id), subscribe(desk, id), subscribe(desk, id)])
    const [first, second, leaving] = streams
    for (const stream of streams) await stream.next()
    await leaving?.leave()
    desk.tasks.files.set('long', 'read from a sealed file')
    const file = { name: 'long', key: 'k', size: 23, sha256: 'd' }
    for (let count = 0; count < 20; count += 1) {
      const parts = count === 7 ? [{ large: { field: 'text' as const, file } }] : [{ text: String(count) }]
      desk.tasks.artifact(id, { artifactId: 'reply', parts }, count > 0, count === 19)
    }
    desk.tasks.status(id, 'TASK_STATE_COMPLETED')
    const [left, right] = await Promise.all([first?.rest(), second?.rest()])
    expect(left).toEqual(right)
    const texts = left?.flatMap((event) =>
      'artifactUpdate' in event ? event.artifactUpdate.artifact.parts.map(({ text }) => text) : [],
    )
    expect(texts).toEqual(
      Array.from({ length: 20 }, (_, count) => (count === 7 ? 'read from a sealed file' : String(count))),
    )
  })

  test('previews reach only who activated them, as whole snapshots', async () => {
    const desk = await endpointDesk()
    const id = desk.tasks.open()
    const plain = await subscribe(desk, id)
    const eager = await subscribe(desk, id, { 'a2a-extensions': extensionUris.preview })
    await Promise.all([plain.next(), eager.next()])
    desk.tasks.preview(id, { artifactId: 'reply', parts: [{ text: 'Once' }] })
    desk.tasks.preview(id, { artifactId: 'reply', parts: [{ text: 'Once upon' }] })
    desk.tasks.artifact(id, { artifactId: 'reply', parts: [{ text: 'Once upon a time' }] })
    desk.tasks.status(id, 'TASK_STATE_COMPLETED')
    expect(kinds(await plain.rest())).toEqual(['artifactUpdate', 'TASK_STATE_COMPLETED'])
    const all = await eager.rest()
    expect(kinds(all)).toEqual(['artifactUpdate', 'artifactUpdate', 'artifactUpdate', 'TASK_STATE_COMPLETED'])
    expect(all[1]).toMatchObject({
      artifactUpdate: { append: false, artifact: { artifactId: 'reply', parts: [{ text: 'Once upon' }] } },
    })
    expect(JSON.stringify((await (await desk.rpc('GetTask', { id })).json()).result)).not.toContain('"Once"')
  })

  test('a comment line keeps an idle stream alive', async () => {
    const desk = await endpointDesk({ limits: { heartbeat: 20 } })
    const id = desk.tasks.open()
    const raw = await RawConnection.open(desk.port)
    raw.write(
      `GET ${desk.url().slice(`http://127.0.0.1:${desk.port}`.length)}/rest/tasks/${id}:subscribe HTTP/1.1`,
      `Host: localhost:${desk.port}`,
      `Authorization: Bearer ${desk.token}`,
      '',
      '',
    )
    await raw.until('\n\n')
    await raw.until(':\n\n')
    await raw.until(':\n\n')
    raw.destroy()
    await expect.poll(() => desk.module.counts().streams).toBe(0)
  })
})

describe('size', () => {
  test('a long text comes in pieces of at most 1 MiB, none of its characters lost', async () => {
    const desk = await endpointDesk()
    const id = desk.tasks.open()
    const events = await subscribe(desk, id)
    await events.next()
    // two code units and four bytes a character, and control characters that JSON writes with six bytes
    const text = `${'🦊'.repeat(300_000)}${'\u0001'.repeat(400_000)}${'x'.repeat(MiB)}`
    desk.tasks.artifact(id, { artifactId: 'reply', name: 'Reply', parts: [{ text }, { text: 'end' }] })
    desk.tasks.status(id, 'TASK_STATE_COMPLETED')
    const all = await events.rest()
    const updates = all.flatMap((event) => ('artifactUpdate' in event ? [event.artifactUpdate] : []))
    expect(updates.length).toBeGreaterThan(3)
    expect(updates.map(({ append }) => append)).toEqual([false, ...updates.slice(1).map(() => true)])
    expect(updates.map(({ lastChunk }) => lastChunk)).toEqual([...updates.slice(1).map(() => false), true])
    expect(updates[0]?.artifact.name).toBe('Reply')
    const joined = updates.flatMap(({ artifact }) => artifact.parts.map((part) => part.text ?? '')).join('')
    expect(joined === `${text}end`).toBe(true)
    expect(events.largest).toBeLessThanOrEqual(MiB)
  })

  test('a long snapshot leaves out the oldest history and goes on with its artifacts', async () => {
    const desk = await endpointDesk()
    const id = desk.tasks.open()
    for (let count = 0; count < 8; count += 1) {
      const message = {
        ...hello.message,
        messageId: `m-${count}`,
        taskId: id,
        parts: [{ text: String(count).repeat(200_000) }],
      }
      await desk.rpc('SendMessage', { message, configuration: { returnImmediately: true } })
    }
    desk.tasks.artifact(id, { artifactId: 'reply', parts: [{ text: 'y'.repeat(2 * MiB) }] })
    const events = await subscribe(desk, id)
    const first = await events.next()
    if (first === undefined || !('task' in first)) throw new Error('no snapshot')
    expect(first.task.history?.at(-1)?.messageId).toBe('m-7')
    expect(first.task.history?.length).toBeLessThan(8)
    desk.tasks.status(id, 'TASK_STATE_COMPLETED')
    const all = await events.rest()
    const text = all
      .flatMap((event) =>
        'artifactUpdate' in event ? event.artifactUpdate.artifact.parts.map((part) => part.text) : [],
      )
      .join('')
    expect(text === 'y'.repeat(2 * MiB)).toBe(true)
    expect(kinds(all).at(-1)).toBe('TASK_STATE_COMPLETED')
    expect(events.largest).toBeLessThanOrEqual(MiB)
  })

  test('a status message that is too long names its texts; GetTask has them', async () => {
    const desk = await endpointDesk()
    const id = desk.tasks.open()
    const events = await subscribe(desk, id)
    await events.next()
    const text = 'z'.repeat(2 * MiB)
    desk.tasks.status(id, 'TASK_STATE_FAILED', { messageId: 'f', role: 'ROLE_AGENT', parts: [{ text }] })
    const [event] = await events.rest()
    expect(event).toMatchObject({
      statusUpdate: { status: { message: { parts: [{ text: '', metadata: { 'anet.file': {} } }] } } },
    })
    expect(events.largest).toBeLessThanOrEqual(MiB)
    const { result } = await (await desk.rpc('GetTask', { id })).json()
    expect(result.status.message.parts[0].text === text).toBe(true)
  })

  test('data over 256 KiB is named in a stream', async () => {
    const desk = await endpointDesk()
    const id = desk.tasks.open()
    const events = await subscribe(desk, id)
    await events.next()
    const data = { blob: randomBytes(200 * 1024).toString('hex') }
    desk.tasks.artifact(id, { artifactId: 'd', parts: [{ data, mediaType: 'application/json' }] })
    expect(await events.next()).toMatchObject({
      artifactUpdate: {
        artifact: { parts: [{ data: null, metadata: { 'anet.file': { size: JSON.stringify(data).length } } }] },
      },
    })
    await events.leave()
  })
})

describe('clients', () => {
  test('one that does not read is cut off alone, and can subscribe again', async () => {
    const desk = await endpointDesk({ limits: { unsentBytes: 2 * MiB } })
    const id = desk.tasks.open()
    const good = await subscribe(desk, id)
    await good.next()
    const stuck = await RawConnection.open(desk.port)
    stuck.write(
      `GET ${desk.url().slice(`http://127.0.0.1:${desk.port}`.length)}/rest/tasks/${id}:subscribe HTTP/1.1`,
      `Host: localhost:${desk.port}`,
      `Authorization: Bearer ${desk.token}`,
      '',
      '',
    )
    await stuck.until('\n\n')
    stuck.socket.pause()
    await expect.poll(() => desk.module.counts().streams).toBe(2)
    let sent = 0
    while (desk.module.counts().streams === 2 && sent < 200) {
      desk.tasks.artifact(id, { artifactId: 'a', parts: [{ text: 'w'.repeat(400_000) }] }, true, false)
      sent += 1
      await good.next()
    }
    expect(desk.module.counts().streams).toBe(1)
    desk.tasks.status(id, 'TASK_STATE_COMPLETED')
    expect(kinds(await good.rest())).toEqual(['TASK_STATE_COMPLETED'])
    stuck.destroy()
  })

  test('a reader that is merely slow gets a text far longer than the limit', async () => {
    const desk = await endpointDesk({ limits: { unsentBytes: 2 * MiB } })
    const id = desk.tasks.open()
    const events = await subscribe(desk, id)
    await events.next()
    desk.tasks.artifact(id, { artifactId: 'a', parts: [{ text: 'v'.repeat(20 * MiB) }] })
    desk.tasks.status(id, 'TASK_STATE_COMPLETED')
    const all = await events.rest()
    const parts = all.flatMap((event) => ('artifactUpdate' in event ? event.artifactUpdate.artifact.parts : []))
    const length = parts.reduce((sum, part) => sum + (part.text?.length ?? 0), 0)
    expect(length).toBe(20 * MiB)
    expect(kinds(all).at(-1)).toBe('TASK_STATE_COMPLETED')
  })

  test('connecting and dropping leaves nothing behind', async () => {
    const desk = await endpointDesk()
    const id = desk.tasks.open()
    for (let round = 0; round < 10; round += 1) {
      const streams = await Promise.all(Array.from({ length: 20 }, () => subscribe(desk, id)))
      await Promise.all(streams.map((stream) => stream.leave()))
    }
    await expect.poll(() => desk.module.counts()).toEqual({ requests: 0, streams: 0 })
    expect(desk.tasks.subscriptions).toBe(0)
  })

  test('one stream too many is 503 on both bindings, and the task is untouched', async () => {
    const desk = await endpointDesk({ limits: { streams: 1 } })
    const id = desk.tasks.open()
    const only = await subscribe(desk, id)
    await only.next()
    const more = await fetch(`${desk.url()}/rest/tasks/${id}:subscribe`, { headers: desk.headers })
    expect(more.status).toBe(503)
    expect(more.headers.get('retry-after')).toBe('1')
    expect((await desk.rpc('SubscribeToTask', { id })).status).toBe(503)
    expect((await (await desk.rpc('GetTask', { id })).json()).result.id).toBe(id)
    await only.leave()
    await expect.poll(() => desk.module.counts().streams).toBe(0)
    await (await subscribe(desk, id)).leave()
  })

  test('a stream outlives the replacement of its token for the time of grace, and no longer', async () => {
    const desk = await endpointDesk({ limits: { heartbeat: 20, replacedTokenGrace: 100 } })
    const id = desk.tasks.open()
    const events = await subscribe(desk, id)
    await events.next()
    await desk.module.rotateToken()
    expect((await desk.rpc('GetTask', { id })).status).toBe(401)
    expect(desk.module.counts().streams).toBe(1)
    await expect(events.rest()).rejects.toThrow()
    await expect.poll(() => desk.module.counts().streams).toBe(0)
  })
})
