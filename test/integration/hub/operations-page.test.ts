import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { defaultHubLimits } from '../../../src-hub/index.ts'
import { HubAgent } from '../../helpers/hub-agent.ts'
import { askAdmin, temporaryHub } from '../../helpers/temporary-hub.ts'

const page = await readFile(resolve(import.meta.dirname, '../../../docs/operations.md'), 'utf8')

/** The requests of the page's curl commands. */
function curlRequests(): { method: 'GET' | 'POST'; path: string; withToken: boolean; body: unknown }[] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('curl '))
    .map((line) => ({
      method: line.includes('-X POST') ? 'POST' : 'GET',
      path: /\$ADMIN(\/[^" ]*)/.exec(line)?.[1] ?? '',
      withToken: line.includes('@<(auth)'),
      body: JSON.parse(/-d '([^']*)'/.exec(line)?.[1] ?? 'null') as unknown,
    }))
}

describe('the page for operators', () => {
  it('shows requests that the admin listener answers', async () => {
    const hub = await temporaryHub({ policy: 'admit' })
    const agent = new HubAgent(hub)
    await agent.join()
    const requests = curlRequests()
    expect(requests.length).toBeGreaterThanOrEqual(9)
    for (const { method, path, withToken, body } of requests) {
      const answer = await askAdmin(hub, method, path.replace('$AID', agent.aid), {
        token: withToken ? hub.adminToken : undefined,
        ...(body === null ? {} : { body }),
      })
      expect([path, answer.status]).toEqual([path, path.endsWith('/invites') ? 201 : 200])
    }
  })

  it('names every metric, and none that is not there', async () => {
    const hub = await temporaryHub()
    const { json } = await askAdmin(hub, 'GET', '/metrics')
    const metrics = new Set([...(json as string).matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1]))
    const named = new Set([...page.matchAll(/`((?:anet_hub|process)_[a-z_]+)/g)].map((match) => match[1]))
    expect(named).toEqual(metrics)
  })

  it('tells the limits as they are', () => {
    const MiB = 1024 * 1024
    expect(defaultHubLimits).toMatchObject({
      envelopeBytes: 97 * MiB,
      ephemeralBytes: MiB + 64 * 1024,
      mailboxMessages: 5000,
      mailboxBytes: 1024 * MiB,
      senderShare: 0.05,
      keepFor: 14 * 24 * 60 * 60_000,
      ratePerSecond: 20,
      rateBurst: 200,
      concurrentBodies: 16,
      requestsPerSecond: 50,
      requestBurst: 1000,
      addressPerSecond: 50,
      addressBurst: 1000,
      bodyIdle: 30_000,
      waiting: 10_000,
      inlineBytes: 256 * 1024,
      heartbeatEvery: 30_000,
      sweepEvery: 60_000,
    })
  })
})
