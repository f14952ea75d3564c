import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type HubOptions, type RunningHub, startHub } from '../../src-hub/index.ts'
import { HubAgent } from './hub-agent.ts'

export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'anet-hub-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** A hub of this test's own, on a free port and a fresh directory. Stops when the test ends. */
export async function temporaryHub(options: Partial<HubOptions> = {}): Promise<RunningHub & { dataDir: string }> {
  const dataDir = options.dataDir ?? join(await temporaryDirectory(), 'hub')
  const hub = await startHub({ port: 0, policy: 'open', ...options, dataDir })
  onTestFinished(() => hub.stop())
  return { ...hub, dataDir }
}

/** Agents that have joined. */
export async function joinedAgents(hub: RunningHub, count: number, now?: () => number): Promise<HubAgent[]> {
  const agents = Array.from({ length: count }, () => new HubAgent(hub, now))
  for (const agent of agents) {
    const answer = await agent.join()
    if (answer.status !== 200) throw new Error(`the hub refused an agent: ${answer.status}`)
  }
  return agents
}
