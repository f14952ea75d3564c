import { join } from 'node:path'
import { z } from 'zod'
import type { Desk } from '../desk.ts'
import { median, type Measured, type Row } from '../row.ts'

const rounds = 7
const roundMs = 1500
const connections = 32

const replayedSchema = z.object({ perSecond: z.number(), rowsPerSend: z.number() })

const against = 'SQLite: its rows, one transaction each'

export const sendRows: readonly Row[] = [
  {
    name: 'send',
    what: 'SendMessage, returnImmediately, durable, 32 at once',
    against,
    goal: { least: 0.5 },
    measure: (desk) => sends(desk),
  },
]

/**
 * The hub is stopped, so that accepting is measured and not delivery; what waits stays in the outbox. After each round the
 * very rows that it left are written once more into a copy of the database as it was before the round.
 */
async function sends(desk: Desk): Promise<Measured> {
  const network = await desk.network()
  const load = await desk.load()
  const writer = await desk.bench('sqlite-writer')
  const layout = await desk.layout()
  await network.stopHub()
  const message = { messageId: '{{id}}', role: 'ROLE_USER', parts: [{ text: 'A task that is only accepted.' }] }
  const request = network.through('SendMessage', { message, configuration: { returnImmediately: true } })
  await load.rate(request, { connections, ms: roundMs })
  const database = join(network.dataDir, 'node.db')
  const before = join(layout.dir, 'before.db')
  const measured: number[] = []
  const alone: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    await writer.call('snapshot', { database, to: before })
    const perSecond = await load.rate(request, { connections, ms: roundMs })
    const count = Math.round((perSecond * roundMs) / 1000)
    const replayed = replayedSchema.parse(await writer.call('replay', { database, before, sends: count }))
    measured.push(perSecond)
    alone.push(replayed.perSecond)
  }
  return { measured: median(measured), against: median(alone), unit: '/s' }
}
