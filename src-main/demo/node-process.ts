import { setTimeout as delay } from 'node:timers/promises'
import type { JoinStateView } from '@shared/contract/index.ts'
import { AnetError } from '@shared/errors.ts'
import { z } from 'zod'
import { updateConfig } from '../node/config/index.ts'
import { type RunningNode, startNode } from '../node/node.ts'
import { systemClock } from '../node/ports.ts'
import { describeSecrets } from '../node/secrets/index.ts'
import { beginSetup } from '../node/setup.ts'
import { applySettings, demoSettingsSchema } from './agent-config.ts'
import { serveParent } from './serve-parent.ts'

const prepareSchema = z.object({ dataDir: z.string() })
const startSchema = z.object({ dataDir: z.string(), settings: demoSettingsSchema })
const awaitSchema = z.object({ aids: z.array(z.string()) })

let node: RunningNode | undefined

/** Makes an identity where there is none. The keys lie in a file that nothing but its rights protects. */
async function prepare(input: unknown): Promise<{ aid: string }> {
  const { dataDir } = prepareSchema.parse(input)
  const existing = await describeSecrets(dataDir)
  if (existing !== undefined) return { aid: existing.aid }
  const setup = await beginSetup({ dataDir, secretStore: 'file', clock: systemClock })
  const words = setup.phrase.split(' ')
  return setup.finish(setup.ask.map((position) => words[position - 1] ?? ''))
}

async function start(input: unknown): Promise<{ aid: string; address: string; tokenFile: string }> {
  const { dataDir, settings } = startSchema.parse(input)
  await updateConfig(dataDir, (config) => applySettings(config, settings))
  node = await startNode({ dataDir, kind: 'headless' })
  await joined(node)
  const { endpoint } = await node.door.client.node.status({})
  if (endpoint.state !== 'up' || endpoint.address === null || endpoint.tokenFile === null) {
    throw new AnetError('endpoint_down', endpoint.sentence, { remedy: 'Free the port and start the demo again.' })
  }
  return { aid: node.aid, address: endpoint.address, tokenFile: endpoint.tokenFile }
}

function joined({ door }: RunningNode): Promise<void> {
  return new Promise((resolve, reject) => {
    const unsubscribe = door.subscribe((event) => {
      if (event.type !== 'node') return
      const { join: state }: { join: JoinStateView } = event.value
      if (state.registered) resolve()
      else if (state.state === 'refused' || state.state === 'removed') {
        reject(new AnetError('not_registered', state.sentence))
      } else return
      queueMicrotask(() => unsubscribe())
    })
  })
}

/** Resolves when this node has verified the cards of all these agents. */
async function awaitVerified(input: unknown): Promise<{ aid: string; name: string }[]> {
  const { aids } = awaitSchema.parse(input)
  const running = node
  if (running === undefined) throw new AnetError('not_started', 'The node of the demo does not run.')
  const { door } = running
  for (;;) {
    const { agents } = await door.client.agents.list({ refresh: true, limit: 200 })
    const found = agents.filter(({ aid, verification }) => aids.includes(aid) && verification === 'VERIFIED')
    if (found.length === aids.length) return found.map(({ aid, name }) => ({ aid, name }))
    await delay(100)
  }
}

serveParent({ prepare, start, awaitVerified }, async () => node?.stop())
