import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'

const partSchema = z.looseObject({ text: z.string().optional() })
const artifactSchema = z.looseObject({ artifactId: z.string(), parts: z.array(partSchema) })
const statusSchema = z.looseObject({ state: z.string() })
const taskSchema = z.looseObject({
  id: z.string(),
  contextId: z.string(),
  status: statusSchema,
  artifacts: z.array(artifactSchema).default([]),
  metadata: z.record(z.string(), z.unknown()).default({}),
})
export type WireTask = z.infer<typeof taskSchema>

const answerSchema = z.object({
  result: z.unknown().optional(),
  error: z.looseObject({ message: z.string() }).optional(),
})
const eventSchema = z.union([
  z.object({ task: taskSchema }),
  z.object({
    statusUpdate: z.looseObject({ status: statusSchema, metadata: z.record(z.string(), z.unknown()).default({}) }),
  }),
  z.object({
    artifactUpdate: z.looseObject({ artifact: artifactSchema, append: z.boolean().default(false) }),
  }),
])
export type WireEvent = z.infer<typeof eventSchema>

export interface Sending {
  readonly text: string
  /** Content of a file part besides the text. */
  readonly file?: string
  readonly fileName?: string
  readonly messageId?: string
  readonly contextId?: string
  readonly taskId?: string
}

/** How long a call is repeated while the node is away. */
const patienceMs = 30_000

/** A client of the endpoint that does not give up: what got no answer is sent again, with the same message id. */
export class EndpointClient {
  readonly #dataDir: string
  readonly #agent: string

  constructor(dataDir: string, agent: string) {
    this.#dataDir = dataDir
    this.#agent = agent
  }

  async send(sending: Sending): Promise<WireTask> {
    const { text, file, fileName = 'file.txt', ...ids } = sending
    const raw = file === undefined ? [] : [{ raw: Buffer.from(file).toString('base64'), filename: fileName }]
    const message = { messageId: randomUUID(), ...ids, role: 'ROLE_USER', parts: [{ text }, ...raw] }
    const result = await this.call('SendMessage', { message, configuration: { returnImmediately: true } })
    return z.object({ task: taskSchema }).parse(result).task
  }

  async task(id: string): Promise<WireTask> {
    return taskSchema.parse(await this.call('GetTask', { id }))
  }

  /** Every task of this agent. */
  async tasks(): Promise<WireTask[]> {
    const found: WireTask[] = []
    for (let pageToken = ''; ;) {
      const page = z
        .object({ tasks: z.array(taskSchema), nextPageToken: z.string().default('') })
        .parse(await this.call('ListTasks', { pageSize: 100, pageToken }))
      found.push(...page.tasks)
      pageToken = page.nextPageToken
      if (pageToken === '') return found
    }
  }

  cancel(id: string): Promise<unknown> {
    return this.call('CancelTask', { id })
  }

  /** The result; an error of the operation is thrown, a connection that fails is made again. */
  async call(method: string, params: object): Promise<unknown> {
    for (const until = Date.now() + patienceMs; ;) {
      try {
        const response = await this.#post(method, params, AbortSignal.timeout(15_000))
        if (response.status !== 503) {
          const text = await response.text()
          const { result, error } = answerSchema.parse(JSON.parse(text))
          if (error !== undefined) throw new OperationError(`${method}: ${JSON.stringify(error)}`)
          return result
        }
        await response.body?.cancel()
      } catch (error) {
        if (error instanceof OperationError || Date.now() > until) throw error
      }
      await delay(20)
    }
  }

  /** Events of a task until the stream ends, from either side. */
  async *subscribe(id: string): AsyncGenerator<WireEvent, void, undefined> {
    const response = await this.#post('SubscribeToTask', { id }, AbortSignal.timeout(60_000))
    if (response.body === null || !response.headers.get('content-type')?.startsWith('text/event-stream')) {
      throw new OperationError(`SubscribeToTask: ${await response.text()}`)
    }
    let rest = ''
    const decoder = new TextDecoder()
    for await (const bytes of response.body) {
      const lines = (rest + decoder.decode(bytes as Uint8Array, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (line.startsWith('data:')) yield eventSchema.parse(answerSchema.parse(JSON.parse(line.slice(5))).result)
      }
    }
  }

  async #post(method: string, params: object, signal: AbortSignal): Promise<Response> {
    const folder = join(this.#dataDir, 'modules', 'a2a')
    const [address, token] = await Promise.all(
      ['a2a_addr.txt', 'a2a_token.txt'].map((name) => readFile(join(folder, name), 'utf8')),
    )
    return fetch(`http://${address?.trim()}/a2a/v1/agents/${this.#agent}/jsonrpc`, {
      method: 'POST',
      signal,
      headers: {
        authorization: `Bearer ${token?.trim()}`,
        'content-type': 'application/json',
        'a2a-version': '1.0',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
  }
}

/** The endpoint answered, and said no. */
export class OperationError extends Error {}
