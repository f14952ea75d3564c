import { z } from 'zod'
import type { Desk } from '../desk.ts'
import type { LoadRequest } from '../load.ts'
import { call, rpcRequest } from '../network.ts'
import { median, type Row } from '../row.ts'

const rounds = 7
const roundMs = 1000
const warmUpMs = 1500
const connections = 32

const portSchema = z.object({ port: z.number() })
const sentSchema = z.object({ task: z.object({ id: z.string() }) })
const taskSchema = z.looseObject({ status: z.object({ state: z.string() }) })

interface Rates {
  readonly endpoint: number
  readonly bare: number
  readonly sdk: number
}

export const getTaskRows: readonly Row[] = [
  {
    name: 'get-task',
    what: 'GetTask on the endpoint, 32 connections',
    against: 'node:http server with the same bytes',
    goal: { least: 0.5 },
    async measure(desk) {
      const { endpoint, bare } = await rates(desk)
      return { measured: endpoint, against: bare, unit: '/s' }
    },
  },
  {
    name: 'get-task-sdk',
    what: 'GetTask on the endpoint, 32 connections',
    against: 'SDK express agent, store in memory',
    goal: { least: 6 },
    async measure(desk) {
      const { endpoint, sdk } = await rates(desk)
      return { measured: endpoint, against: sdk, unit: '/s' }
    },
  },
]

/** All three servers take turns, so that whatever else the machine does meets all of them. */
function rates(desk: Desk): Promise<Rates> {
  return desk.once('get-task', async () => {
    const network = await desk.network()
    const load = await desk.load()
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'A task to be read.' }] }
    const { task } = sentSchema.parse(await call(network.through('SendMessage', { message })))
    const endpoint = network.through('GetTask', { id: task.id })
    const whole = taskSchema.parse(await call(endpoint))
    if (whole.status.state !== 'TASK_STATE_COMPLETED') throw new Error('the task to be read did not complete')

    const bareServer = await desk.bench('bare-server')
    const sample = await answerOf(endpoint)
    const bare = { ...endpoint, ...portSchema.parse(await bareServer.call('start', sample)) }

    const sdkServer = await desk.bench('sdk-server')
    const { port } = portSchema.parse(await sdkServer.call('start', { task: whole }))
    const sdk = rpcRequest({ port, path: '/jsonrpc', token: '', headers: {} }, 'GetTask', { id: task.id })

    const measured: Record<keyof Rates, number[]> = { endpoint: [], bare: [], sdk: [] }
    const targets = { endpoint, bare, sdk } satisfies Record<keyof Rates, LoadRequest>
    const turns = Object.entries(targets) as [keyof Rates, LoadRequest][]
    for (const [, target] of turns) await load.rate(target, { connections, ms: warmUpMs })
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, target] of turns) measured[name].push(await load.rate(target, { connections, ms: roundMs }))
    }
    return { endpoint: median(measured.endpoint), bare: median(measured.bare), sdk: median(measured.sdk) }
  })
}

/** What the endpoint answers, as the bare server repeats it. Connection headers are node's own in both. */
async function answerOf({ port, path, headers, body }: LoadRequest) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body })
  const own = new Set(['connection', 'keep-alive', 'date'])
  const kept = [...response.headers].filter(([name]) => !own.has(name)).flat()
  return { status: response.status, headers: kept, body: await response.text() }
}
