import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { identifyProcess } from '../../../src-main/node/data-dir/index.ts'
import { type EndpointDesk, endpointDesk } from '../../helpers/endpoint-desk.ts'
import { temporaryFolder } from '../../helpers/temporary-folder.ts'

const file = (dataDir: string, name: string) => `${dataDir}/modules/a2a/${name}`
const read = (dataDir: string, name: string) => readFile(file(dataDir, name), 'utf8')
const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

async function hold(port: number, host: string): Promise<Server> {
  const server = createServer()
  server.listen({ port, host })
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return server
}

/** Another process that holds a port until it is ended. */
async function holdElsewhere(port: number, host = '127.0.0.1'): Promise<ChildProcess> {
  const script = `require('node:net').createServer().listen(${port}, '${host}', () => console.log('up'))`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

/** A data directory whose endpoint was up once. */
async function usedDirectory(): Promise<{ dataDir: string; port: number; token: string }> {
  const dataDir = await temporaryFolder()
  const desk = await endpointDesk({ dataDir })
  await desk.module.close()
  return { dataDir, port: desk.port, token: desk.token }
}

async function lists(desk: EndpointDesk, host: string): Promise<number> {
  const answer = await fetch(`http://${host}:${desk.port}/a2a/v1/agents`, { headers: desk.headers })
  await answer.arrayBuffer()
  return answer.status
}

describe('address and token', () => {
  test('the first start chooses a port of the range and writes both files for this user alone', async () => {
    const desk = await endpointDesk()
    expect(desk.port).toBeGreaterThanOrEqual(43_811)
    expect(desk.port).toBeLessThanOrEqual(45_810)
    expect((await read(desk.dataDir, 'a2a_addr.txt')).trim()).toBe(`127.0.0.1:${desk.port}`)
    expect(await read(desk.dataDir, 'a2a_token.txt')).toMatch(/^[0-9a-f]{64}\n$/)
    expect((await stat(file(desk.dataDir, 'a2a_token.txt'))).mode & 0o777).toBe(0o600)
    expect((await stat(`${desk.dataDir}/modules/a2a`)).mode & 0o777).toBe(0o700)
    expect(desk.module.status()).toMatchObject({
      state: 'up',
      address: `127.0.0.1:${desk.port}`,
      agentsUrl: `http://127.0.0.1:${desk.port}/a2a/v1/agents`,
      tokenFile: file(desk.dataDir, 'a2a_token.txt'),
      conflict: null,
    })
    expect(await lists(desk, '127.0.0.1')).toBe(200)
    expect(await lists(desk, '[::1]')).toBe(200)
    expect(await lists(desk, 'localhost')).toBe(200)
  })

  test('every later start has the same address and token', async () => {
    const { dataDir, port, token } = await usedDirectory()
    const again = await endpointDesk({ dataDir })
    expect([again.port, again.token]).toEqual([port, token])
  })

  test('without the address file both are new; without the token only the token is', async () => {
    const { dataDir, port, token } = await usedDirectory()
    await rm(file(dataDir, 'a2a_token.txt'))
    const second = await endpointDesk({ dataDir })
    expect(second.port).toBe(port)
    expect(second.token).not.toBe(token)
    await second.module.close()
    await rm(file(dataDir, 'a2a_addr.txt'))
    const third = await endpointDesk({ dataDir })
    expect(third.token).not.toBe(second.token)
    expect((await read(dataDir, 'a2a_addr.txt')).trim()).toBe(`127.0.0.1:${third.port}`)
  })

  test('an address that was edited is bound, with a new token', async () => {
    const { dataDir, port, token } = await usedDirectory()
    const other = await usedDirectory()
    await writeFile(file(dataDir, 'a2a_addr.txt'), `127.0.0.1:${other.port}`)
    const desk = await endpointDesk({ dataDir })
    expect(desk.port).toBe(other.port)
    expect(desk.port).not.toBe(port)
    expect(desk.token).not.toBe(token)
  })

  test.each([
    '',
    'hello',
    '0.0.0.0:44000',
    'localhost:44000',
    '127.0.0.1:80',
    '127.0.0.1:65536',
    '127.0.0.1:044000',
    '127.0.0.1:44000 ',
    `127.0.0.1:44000\n127.0.0.1:44001\n`,
    'x'.repeat(100),
  ])('an address file that holds %j is a state, and nothing is overwritten', async (text) => {
    const { dataDir, port, token } = await usedDirectory()
    await writeFile(file(dataDir, 'a2a_addr.txt'), text)
    const desk = await endpointDesk({ dataDir })
    expect(desk.module.status()).toMatchObject({ state: 'address_file_invalid', address: null, agentsUrl: null })
    expect(desk.module.checks()).toEqual([expect.objectContaining({ outcome: 'fail', remedy: expect.any(String) })])
    expect(await read(dataDir, 'a2a_addr.txt')).toBe(text)
    expect(desk.token).toBe(token)
    await writeFile(file(dataDir, 'a2a_addr.txt'), `127.0.0.1:${port}\n`)
    expect(await desk.module.retry()).toMatchObject({ state: 'up', address: `127.0.0.1:${port}` })
  })
})

describe('port conflict', () => {
  test('the endpoint stays down, names the holder, and comes up when asked after it has gone', async () => {
    const { dataDir, port, token } = await usedDirectory()
    const holder = await holdElsewhere(port)
    const desk = await endpointDesk({ dataDir })
    const seen: string[] = []
    desk.module.onStatus(({ state }) => seen.push(state))
    const status = desk.module.status()
    expect(status.state).toBe('port_conflict')
    expect(status.conflict).toMatchObject({
      address: `127.0.0.1:${port}`,
      holder: { pid: holder.pid, command: 'node', otherUser: false, thisNode: false },
    })
    const text = await read(dataDir, 'a2a_port_conflict.txt')
    expect(text).toContain(`127.0.0.1:${port}`)
    expect(text).toContain(String(holder.pid))
    expect(text).toContain('anet a2a retry')
    expect(desk.module.checks()[0]).toMatchObject({
      outcome: 'fail',
      seen: expect.stringContaining(String(holder.pid)),
    })
    expect((await desk.module.retry()).state).toBe('port_conflict')
    await end(holder)
    expect((await desk.module.retry()).state).toBe('up')
    expect(seen).toEqual(['port_conflict', 'up'])
    expect(await exists(file(dataDir, 'a2a_port_conflict.txt'))).toBe(false)
    expect((await read(dataDir, 'a2a_token.txt')).trim()).toBe(token)
    expect((await read(dataDir, 'a2a_addr.txt')).trim()).toBe(`127.0.0.1:${port}`)
  })

  test.each(['::1', '0.0.0.0'])('a stranger on %s alone is a conflict too', async (host) => {
    const { dataDir, port } = await usedDirectory()
    const holder = await holdElsewhere(port, host)
    const desk = await endpointDesk({ dataDir })
    expect(desk.module.status().conflict?.holder.pid).toBe(holder.pid)
    const own = createServer()
    own.listen({ port, host: host === '::1' ? '127.0.0.1' : '::1' })
    // nothing of the endpoint is left on the other address
    await once(own, 'listening')
    own.close()
  })

  test('this very process is no stranger: the token stays', async () => {
    const { dataDir, port, token } = await usedDirectory()
    await hold(port, '127.0.0.1')
    const desk = await endpointDesk({ dataDir })
    expect(desk.module.status().conflict?.holder).toMatchObject({ pid: process.pid, thisNode: true })
    expect(desk.token).toBe(token)
  })

  test('the process that served this directory before gets time to let go', async () => {
    const { dataDir, port, token } = await usedDirectory()
    const script = `
      const server = require('node:net').createServer().listen(${port}, '127.0.0.1', () => console.log('up'))
      process.stdin.once('data', () => server.close(() => console.log('down')))
    `
    const child = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    await once(child.stdout, 'data')
    const record = JSON.parse(await read(dataDir, 'a2a_bound.json'))
    const identity = await identifyProcess(child.pid ?? 0)
    await writeFile(file(dataDir, 'a2a_bound.json'), JSON.stringify({ ...record, ...identity }), { mode: 0o600 })
    const starting = endpointDesk({ dataDir })
    child.stdin.write('go\n')
    await once(child.stdout, 'data')
    const desk = await starting
    expect(desk.module.status().state).toBe('up')
    expect(desk.token).toBe(token)
  })
})
