import { readFile, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { errorCode, HubAgent, unknownAid } from '../../helpers/hub-agent.ts'
import { askAdmin, joinedAgent, temporaryHub } from '../../helpers/temporary-hub.ts'

describe('the admin listener of a hub', () => {
  it('tells everybody on the machine how the hub is, and nobody more than that', async () => {
    const hub = await temporaryHub()
    const [from, to] = [await joinedAgent(hub), await joinedAgent(hub)]
    await from.send(to.aid)
    const open = { token: undefined }
    expect(await askAdmin(hub, 'GET', '/healthz', open)).toMatchObject({ status: 200, json: 'ok\n' })
    expect(await askAdmin(hub, 'GET', '/readyz', open)).toMatchObject({ status: 200, json: 'ready\n' })
    const metrics = await askAdmin(hub, 'GET', '/metrics', open)
    expect(metrics.headers.get('content-type')).toContain('text/plain; version=0.0.4')
    const text = metrics.json as string
    expect(text).toContain('anet_hub_members{state="member"} 2\n')
    expect(text).toContain('anet_hub_mailbox_messages 1\n')
    expect(text).toContain('anet_hub_envelopes_stored_total 1\n')
    expect(text).toContain('anet_hub_requests_total{route="/hub/v1/send",status="200"} 1\n')
    expect(text).toContain('anet_hub_requests_total{route="/hub/v1/join",status="200"} 2\n')
    for (const line of text.trimEnd().split('\n')) expect(line).toMatch(/^(# (HELP|TYPE) |[a-z_]+(\{[^}]*\})? \d+$)/)
    expect(text).not.toContain('bafy')
    for (const path of ['/admin/v1/status', '/admin/v1/members', '/admin/v1/forks']) {
      expect((await askAdmin(hub, 'GET', path, open)).status).toSatisfy((status) => status === 401 || status === 429)
    }
  })

  it('is for those who read its token from the data directory', async () => {
    const hub = await temporaryHub()
    const read = (name: string) => readFile(join(hub.dataDir, name), 'utf8')
    expect(await read('hub_addr.txt')).toBe(hub.url)
    expect(await read('hub_admin_addr.txt')).toBe(hub.adminUrl)
    expect(await read('hub_admin_token.txt')).toBe(hub.adminToken)
    expect(hub.adminUrl).toMatch(/^http:\/\/127\.0\.0\.1:/)
    for (const name of ['hub_admin_token.txt', 'hub_key', 'hub_next_key', 'hub.db', 'hub.db-wal', 'hub.lock']) {
      expect([name, (await stat(join(hub.dataDir, name))).mode & 0o777]).toEqual([name, 0o600])
    }
    expect((await stat(hub.dataDir)).mode & 0o777).toBe(0o700)
  })

  it('makes those wait who guess, but not the operator', async () => {
    const hub = await temporaryHub()
    const wrong = () => askAdmin(hub, 'GET', '/admin/v1/status', { token: 'wrong' })
    expect((await wrong()).status).toBe(401)
    const throttled = await wrong()
    expect(throttled.status).toBe(429)
    expect(Number(throttled.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(Number(throttled.headers.get('retry-after'))).toBeLessThanOrEqual(10)
    expect((await askAdmin(hub, 'GET', '/admin/v1/status')).status).toBe(200)
  })

  it('is not to be reached by a name that a web page chose', async () => {
    const hub = await temporaryHub()
    const { port } = new URL(hub.adminUrl)
    const socket = connect(Number(port), '127.0.0.1')
    await once(socket, 'connect')
    socket.write('GET /metrics HTTP/1.1\r\nhost: rebound.example\r\nconnection: close\r\n\r\n')
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(answer.toString()).toMatch(/^HTTP\/1.1 400 /)
    socket.destroy()
  })

  it('makes invites, lists and admits members, and shows the state', async () => {
    const hub = await temporaryHub({ policy: 'invite', name: 'Mine' })
    const made = await askAdmin(hub, 'POST', '/admin/v1/invites', { body: { validFor: 60_000 }, token: hub.adminToken })
    expect(made.status).toBe(201)
    const { invite, hub: pinned, expiresAt } = made.json as { invite: string; hub: string; expiresAt: number }
    expect(pinned).toBe(hub.aid)
    expect(Math.abs(expiresAt - Date.now() - 60_000)).toBeLessThan(10_000)
    const agent = new HubAgent(hub)
    expect(errorCode(await agent.join({ invite, card: agent.card() }))).toBeUndefined()

    const { json } = await askAdmin(hub, 'GET', '/admin/v1/members?state=member&limit=10')
    expect(json).toMatchObject({ members: [{ aid: agent.aid, state: 'member', listed: true, messages: 0, bytes: 0 }] })
    const status = await askAdmin(hub, 'GET', '/admin/v1/status')
    expect(status.json).toMatchObject({
      aid: hub.aid,
      name: 'Mine',
      policy: 'invite',
      members: 1,
      waiting: 0,
      sessions: 0,
    })
  })

  it('pages through its members', async () => {
    const hub = await temporaryHub()
    const agents = [await joinedAgent(hub), await joinedAgent(hub), await joinedAgent(hub)].map((agent) => agent.aid)
    const listed: string[] = []
    let after: string | undefined
    do {
      const query = `limit=2${after === undefined ? '' : `&after=${after}`}`
      const page = (await askAdmin(hub, 'GET', `/admin/v1/members?${query}`)).json as {
        members: { aid: string }[]
        next?: string
      }
      listed.push(...page.members.map((member) => member.aid))
      after = page.next
    } while (after !== undefined)
    expect(listed).toEqual(agents.toSorted())
  })

  it('names what is wrong with a request', async () => {
    const hub = await temporaryHub()
    const ask = async (method: 'GET' | 'POST', path: string, body?: unknown) => {
      const { status, json } = await askAdmin(hub, method, path, { body, token: hub.adminToken })
      return [status, (json as { error: { code: string } }).error.code]
    }
    expect(await ask('POST', '/admin/v1/invites', { validFor: 'long' })).toEqual([400, 'bad_request'])
    expect(await ask('POST', '/admin/v1/invites', { for: 'you' })).toEqual([400, 'bad_request'])
    expect(await ask('GET', '/admin/v1/members?limit=0')).toEqual([400, 'bad_request'])
    expect(await ask('POST', '/admin/v1/members/somebody/admit')).toEqual([400, 'bad_request'])
    expect(await ask('POST', `/admin/v1/members/${unknownAid()}/admit`)).toEqual([404, 'unknown_agent'])
    expect(await ask('POST', `/admin/v1/members/${unknownAid()}/remove`)).toEqual([404, 'unknown_agent'])
    expect(await ask('GET', '/admin/v1/nothing')).toEqual([404, 'not_found'])
    expect(await ask('POST', '/admin/v1/invites', { note: 'x'.repeat(20_000) })).toEqual([400, 'bad_request'])
  })
})
