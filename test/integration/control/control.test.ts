import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connectControl, type ControlServer, startControl } from '../../../src-main/node/control/index.ts'
import { type DataDirLock, lockDataDir } from '../../../src-main/node/data-dir/index.ts'
import { localClient, nodeContract, type NodeDoor, type NodeEvent } from '../../../src-shared/contract/index.ts'
import { AnetError } from '../../../src-shared/errors.ts'
import { aNodeView, aTaskSummary, deadHandlers } from '../../helpers/contract-views.ts'

/** A busy machine takes longer than the second that a poll has by itself. */
const patient = { timeout: 10_000 }

let dataDir = ''
let control: ControlServer
let lock: DataDirLock
let listeners: Set<(event: NodeEvent) => void>
const calls: string[] = []

/** A door that answers from fixed values: what is tested here is the way through the control plane. */
function door(): NodeDoor {
  return {
    client: localClient(nodeContract, {
      ...deadHandlers,
      node: {
        ...deadHandlers.node,
        status: () => {
          calls.push('status')
          return aNodeView
        },
      },
      tasks: {
        ...deadHandlers.tasks,
        get: ({ id }) => {
          throw new AnetError('task_not_found', `There is no task ${id}.`, { remedy: 'Look again.' })
        },
        cancel: () => {
          throw new Error('a secret of the inside')
        },
      },
    }),
    subscribe(listener) {
      listeners.add(listener)
      listener({ type: 'node', revision: 1, value: aNodeView })
      return () => listeners.delete(listener)
    },
  }
}

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'anet-control-'))
  listeners = new Set()
  calls.length = 0
  lock = await lockDataDir(dataDir, 'headless')
  control = await startControl({ dataDir, door: door(), log: pino({ level: 'silent' }) })
})
afterEach(async () => {
  await control.close(0)
  rmSync(dataDir, { recursive: true, force: true })
})

const port = (): number => Number(control.address.split(':')[1])
const token = (): string => readFileSync(control.tokenFile, 'utf8').trim()

/** Sends exactly these bytes and resolves with everything that comes back until the other side closes. */
function raw(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port(), '127.0.0.1', () => socket.write(bytes))
    let answer = ''
    socket.on('data', (chunk) => (answer += chunk.toString()))
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
}

function call(
  headers: readonly string[],
  body = '{"method":"node.status","input":{}}',
  path = '/control/v1/call',
): Promise<string> {
  return raw(
    [
      `POST ${path} HTTP/1.1`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      ...headers,
      '',
      body,
    ].join('\r\n'),
  )
}
const good = (): string[] => [`Host: 127.0.0.1:${port()}`, `Authorization: Bearer ${token()}`]

describe('requests to the control plane', () => {
  it('are answered with an envelope when everything is right', async () => {
    const answer = await call(good())
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    expect(answer).toMatch(/x-content-type-options: nosniff/i)
    expect(answer).toMatch(/cache-control: no-store/i)
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))).toEqual({ ok: true, value: aNodeView })
  })

  it.each([
    ['no Host', 421, () => [`Authorization: Bearer ${token()}`]],
    ['a foreign Host', 421, () => ['Host: attacker.example', `Authorization: Bearer ${token()}`]],
    [
      'a foreign Host with this port',
      421,
      () => [`Host: attacker.example:${port()}`, `Authorization: Bearer ${token()}`],
    ],
    ['another port', 421, () => ['Host: 127.0.0.1:1', `Authorization: Bearer ${token()}`]],
    ['two Hosts', 421, () => [...good(), `Host: 127.0.0.1:${port()}`]],
    ['an Origin', 403, () => [...good(), 'Origin: https://attacker.example']],
    ['an empty Origin', 403, () => [...good(), 'Origin:']],
    ['a cross-site request', 403, () => [...good(), 'Sec-Fetch-Site: cross-site']],
    ['no token', 401, () => [`Host: 127.0.0.1:${port()}`]],
    ['another token', 401, () => [`Host: 127.0.0.1:${port()}`, `Authorization: Bearer ${'0'.repeat(64)}`]],
    ['two tokens', 401, () => [...good(), `Authorization: Bearer ${token()}`]],
    ['another scheme', 401, () => [`Host: 127.0.0.1:${port()}`, `Authorization: Basic ${token()}`]],
  ])('are refused with %s', async (_, status, headers) => {
    const answer = await call(headers())
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(answer).toMatch(/content-type: application\/json/i)
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))).toMatchObject({ ok: false })
    expect(calls).toEqual([])
  })

  it('challenge a client without the token, and Host comes before it', async () => {
    expect(await call([`Host: 127.0.0.1:${port()}`])).toMatch(/www-authenticate: Bearer realm="anet-control"/i)
    expect(await call(['Host: attacker.example'])).toMatch(/^HTTP\/1\.1 421 /)
  })

  it.each(['localhost', 'LOCALHOST', '127.0.0.1', '[::1]'])('may name the host %s', async (host) => {
    expect(await call([`Host: ${host}:${port()}`, `Authorization: Bearer ${token()}`])).toMatch(/^HTTP\/1\.1 200 /)
  })

  it.each([
    ['a broken body', '{"method":', 400],
    ['another body than a call', '["node.status"]', 400],
    ['unknown keys', '{"method":"node.status","extra":1}', 400],
  ])('with %s are refused', async (_, body, status) => {
    expect(await call(good(), body)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  })

  it('over the size limit are refused before they are read', async () => {
    const head = [
      'POST /control/v1/call HTTP/1.1',
      ...good(),
      'Content-Type: application/json',
      'Content-Length: 999999999',
    ]
    expect(await raw(`${head.join('\r\n')}\r\n\r\n{`)).toMatch(/^HTTP\/1\.1 413 /)
  })

  it('to unknown paths and with wrong methods are refused in the same form', async () => {
    expect(await call(good(), '{}', '/control/v1/other')).toMatch(/^HTTP\/1\.1 404 [^]*"ok":false/)
    const get = `GET /control/v1/call HTTP/1.1\r\n${good().join('\r\n')}\r\n\r\n`
    expect(await raw(get)).toMatch(/^HTTP\/1\.1 405 [^]*allow: POST/i)
    expect(await raw('NONSENSE\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /)
  })

  it('wait for 100 Continue only when they pass the checks', async () => {
    const head = (headers: string[]): string =>
      ['POST /control/v1/call HTTP/1.1', ...headers, 'Expect: 100-continue', 'Content-Length: 2', '', '{}'].join('\r\n')
    expect(await raw(head([`Host: 127.0.0.1:${port()}`]))).toMatch(/^HTTP\/1\.1 401 /)
    expect(await raw(head([...good(), 'Content-Type: application/json', 'Connection: close']))).toMatch(
      /^HTTP\/1\.1 100 /,
    )
  })
})

describe('address and token', () => {
  it('lie in files of this user alone and are new at every start', async () => {
    expect(statSync(control.tokenFile).mode & 0o777).toBe(0o600)
    expect(statSync(join(dataDir, 'control_addr.txt')).mode & 0o777).toBe(0o600)
    const before = token()
    await control.close(0)
    expect(() => statSync(control.tokenFile)).toThrow('ENOENT')
    control = await startControl({ dataDir, door: door(), log: pino({ level: 'silent' }) })
    expect(token()).not.toBe(before)
    expect(token()).toMatch(/^[0-9a-f]{64}$/)
  })
})

describe('a client of the control plane', () => {
  it('calls the node and gets its errors as they are', async () => {
    const { client } = connectControl({ dataDir })
    expect(await client.node.status({})).toEqual(aNodeView)
    await expect(client.tasks.get({ id: 'x' })).rejects.toMatchObject({
      code: 'task_not_found',
      message: 'There is no task x.',
      remedy: 'Look again.',
    })
    const inside: unknown = await client.tasks.cancel({ id: 'x' }).catch((error: unknown) => error)
    expect(inside).toMatchObject({ code: 'internal' })
    expect(String((inside as Error).message)).not.toContain('secret')
  })

  it('sees events, the node slice first, and again after the node came back', async () => {
    const seen: NodeEvent[] = []
    const changes: boolean[] = []
    let wake = (): void => {}
    const until = async (condition: () => boolean): Promise<void> => {
      while (!condition()) await new Promise<void>((resolve) => (wake = resolve))
    }
    const client = connectControl({ dataDir, onConnection: (connected) => (changes.push(connected), wake()) })
    const unsubscribe = client.subscribe((event) => (seen.push(event), wake()))
    await until(() => seen.length === 1)
    expect(seen[0]).toEqual({ type: 'node', revision: 1, value: aNodeView })
    for (const listener of listeners) listener({ type: 'task', revision: 2, value: aTaskSummary })
    await until(() => seen.length === 2)
    expect(seen[1]).toEqual({ type: 'task', revision: 2, value: aTaskSummary })

    await control.close(0)
    control = await startControl({ dataDir, door: door(), log: pino({ level: 'silent' }) })
    await until(() => seen.length === 3)
    expect(seen[2]?.type).toBe('node')
    expect(changes).toEqual([true, false, true])
    unsubscribe()
    client.close()
  })

  it('leaves nothing behind at the node when it goes', async () => {
    const client = connectControl({ dataDir })
    await new Promise<void>((resolve) => client.subscribe(() => resolve()))
    expect(listeners.size).toBe(1)
    client.close()
    await expect.poll(() => listeners.size, patient).toBe(0)
  })

  it('says that no node runs when there are no files, or files of a node that was killed', async () => {
    const { client } = connectControl({ dataDir })
    await lock.release()
    // the port answers, but nobody holds the directory: nothing is sent there
    await expect(client.node.status({})).rejects.toMatchObject({ code: 'node_not_running' })
    expect(calls).toEqual([])
    lock = await lockDataDir(dataDir, 'headless')
    await control.close(0)
    await expect(client.node.status({})).rejects.toMatchObject({ code: 'node_not_running' })
    writeFileSync(join(dataDir, 'control_addr.txt'), control.address, { mode: 0o600 })
    writeFileSync(join(dataDir, 'control_token.txt'), 'a'.repeat(64), { mode: 0o600 })
    await expect(client.node.status({})).rejects.toMatchObject({ code: 'node_not_running' })
  })
})

describe('a client that reads slowly', () => {
  it('gets the newest of each task instead of every step, while others get everything', async () => {
    const slow = request({
      host: '127.0.0.1',
      port: port(),
      path: '/control/v1/events',
      headers: { authorization: `Bearer ${token()}` },
    })
    slow.end()
    const response = await new Promise<IncomingMessage>((resolve) => slow.once('response', resolve))
    await expect.poll(() => listeners.size, patient).toBe(1)
    const steps = 20_000
    for (let step = 1; step <= steps; step += 1) {
      for (const listener of listeners) {
        listener({ type: 'task', revision: step, value: { ...aTaskSummary, stateSeq: step, title: 'x'.repeat(400) } })
      }
    }
    const received: number[] = []
    let rest = ''
    response.setEncoding('utf8')
    for await (const chunk of response as AsyncIterable<string>) {
      const blocks = (rest + chunk).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const event = JSON.parse(block.slice('data: '.length)) as NodeEvent
        if (event.type === 'task') received.push(event.value.stateSeq)
      }
      if (received.at(-1) === steps) break
    }
    slow.destroy()
    expect(received.length).toBeLessThan(steps)
    expect(received).toEqual(received.toSorted((a, b) => a - b))
  })
})
