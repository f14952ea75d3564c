import { isAnetError } from '@shared/errors.ts'
import { z } from 'zod'
import { type RunningHub, startHub } from '../../src-hub/index.ts'
import { faultFromEnvironment } from '../node/fault.ts'
import { createLog } from '../node/log.ts'
import { serveParent } from './serve-parent.ts'

const inputSchema = z.object({ dataDir: z.string(), port: z.int().min(0).max(65535) })

/** Everything of a demo comes from one address, and tests send as fast as they can. */
const limits = {
  ratePerSecond: 100_000,
  rateBurst: 1_000_000,
  requestsPerSecond: 100_000,
  requestBurst: 1_000_000,
  addressPerSecond: 100_000,
  addressBurst: 1_000_000,
  senderShare: 1,
}

let hub: RunningHub | undefined

async function start(input: unknown): Promise<{ url: string; aid: string }> {
  const { dataDir, port } = inputSchema.parse(input)
  const log = createLog({ dataDir, program: 'hub' })
  const common = { dataDir, name: 'Demo hub', policy: 'open', limits, log, fault: faultFromEnvironment() } as const
  try {
    hub = await startHub({ ...common, port })
  } catch (error) {
    if (!isAnetError(error, 'hub_port_in_use') || port === 0) throw error
    hub = await startHub({ ...common, port: 0 })
  }
  return { url: hub.url, aid: hub.aid }
}

serveParent({ start: start }, async () => hub?.stop())
