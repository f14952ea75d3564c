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

/** An agent that has joined. */
export async function joinedAgent(hub: RunningHub, now?: () => number): Promise<HubAgent> {
  const agent = new HubAgent(hub, now)
  const answer = await agent.join()
  if (answer.status !== 200) throw new Error(`the hub refused an agent: ${answer.status}`)
  return agent
}

/** A request to the admin listener; `token` undefined: without one. */
export async function askAdmin(
  hub: RunningHub,
  method: 'GET' | 'POST',
  path: string,
  options: { body?: unknown; token?: string | undefined } = { token: hub.adminToken },
): Promise<{ status: number; headers: Headers; json: unknown }> {
  const token = 'token' in options ? options.token : hub.adminToken
  const response = await fetch(`${hub.adminUrl}${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  return { status: response.status, headers: response.headers, json: isJson ? JSON.parse(text) : text }
}
