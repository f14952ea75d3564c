import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { pino } from 'pino'
import { WebSocket, WebSocketServer } from 'ws'
import { decodeCbor } from '@shared/wire/index.ts'
import { z } from 'zod'
import { openSecrets } from '../../src-main/node/secrets/index.ts'
import { type FaultyNetwork, startFaultyNetwork } from '../helpers/faults/network.ts'
import { persistently, settled } from '../helpers/faults/workload.ts'
import { type RecordingProxy, recordTraffic } from '../helpers/secrecy/recording-proxy.ts'
import { filesBelow, findIn, formsOf, type Haystack, processFaces } from '../helpers/secrecy/search.ts'

const canary = (): string => `canary-${randomBytes(15).toString('base64url')}`
/** One for each place in which a person's words travel. */
const words = { text: canary(), partText: canary(), file: canary(), fileName: canary(), answer: canary() }
const maxKeyBytes = 1024 * 1024
const large = Buffer.from(`${words.file} `.repeat(40_000)).toString()

let network: FaultyNetwork
let proxy: RecordingProxy
/** The hub's files while it holds messages, when all are delivered, and when it has stopped. */
const hubFiles: Haystack[] = []
/** Answers of the operator's endpoint, as a client gets them. */
let answers: Haystack[]
/** Arguments and environments of all processes. */
let faces: Haystack[]
/** What must never leave the files that are made for it. */
const secrets = new Map<string, Uint8Array>()

const keepHubFiles = async (when: string): Promise<void> => {
  const found = await filesBelow(join(network.folder, 'hub'))
  hubFiles.push(...found.map(({ name, bytes }) => ({ name: `${name} ${when}`, bytes })))
}

beforeAll(async () => {
  network = await startFaultyNetwork({
    between: async (url) => {
      proxy = await recordTraffic(url)
      return proxy.url
    },
    config: { log: { level: 'debug' } },
  })
  const { client, operator, provider, programs } = network
  // the provider has been seen, then is away: the hub holds the messages
  await settled(client, (await client.send({ text: 'hello' })).id)
  await provider.program.stop()
  const forwarded = await client.send({ text: `${words.text} ${words.answer}` })
  const byHand = await client.send({ text: words.partText, file: large, fileName: `${words.fileName}.txt` })
  const envelopes = async (): Promise<number> =>
    (await filesBelow(join(network.folder, 'hub', 'envelopes'))).filter(({ bytes }) => bytes.length > 0).length
  while ((await envelopes()) === 0);
  await keepHubFiles('with messages')
  await provider.program.start()
  await settled(client, forwarded.id)
  const item = await persistently(provider, async ({ inbox }) => {
    for (;;) {
      const { items } = await inbox.list({})
      const found = items.find(({ task }) => task.id === byHand.id)
      if (found !== undefined) return found.id
    }
  })
  const file = join(network.folder, `${words.fileName}.out`)
  await writeFile(file, large)
  await persistently(provider, ({ inbox }) =>
    inbox.answer({ id: item, kind: 'complete', text: words.answer, files: [file] }),
  )
  await rm(file)
  await settled(client, byHand.id)
  await keepHubFiles('delivered')
  answers = await Promise.all(
    [forwarded.id, byHand.id].map(async (id) => ({
      name: 'GetTask',
      bytes: Buffer.from(JSON.stringify(await client.call('GetTask', { id }))),
    })),
  )
  for (const { dataDir, program } of [operator, provider]) await collectSecrets(program.name, dataDir)
  await collectHubSecrets(join(network.folder, 'hub'))
  secrets.set('token of the agent', Buffer.from(network.agentToken))
  faces = (await Promise.all(Object.values(programs).map(({ child }) => processFaces(child.pid ?? 0)))).flat()
  await operator.program.stop()
  await provider.program.stop()
  await programs.hub.stop()
  await keepHubFiles('stopped')
})

afterAll(async () => {
  await network.stop()
  await proxy.close()
})

const byName = (a = '', b = ''): number => (a < b ? -1 : 1)
const everywhere = (haystacks: readonly Haystack[], secrets: Iterable<string | Uint8Array>): string[] =>
  [...secrets].flatMap((secret) => findIn(haystacks, Buffer.from(secret)))

/** Tokens as the files have them; keys as bytes. */
async function collectSecrets(of: string, dataDir: string): Promise<void> {
  for (const file of ['control_token.txt', 'modules/a2a/a2a_token.txt']) {
    secrets.set(`${file} of the ${of}`, Buffer.from((await readFile(join(dataDir, file), 'utf8')).trim()))
  }
  const { wrappingKey, keys } = await openSecrets({ dataDir, log: pino({ level: 'silent' }) })
  secrets.set(`wrapping key of the ${of}`, wrappingKey)
  const { signing, encryption } = z
    .object({
      signing: z.object({ seed: z.instanceof(Uint8Array) }),
      encryption: z.array(z.object({ privateKey: z.instanceof(Uint8Array) })),
    })
    .parse(decodeCbor(keys, maxKeyBytes))
  secrets.set(`signing key of the ${of}`, signing.seed)
  for (const { privateKey } of encryption) secrets.set(`encryption key of the ${of}`, privateKey)
}

async function collectHubSecrets(dataDir: string): Promise<void> {
  secrets.set('admin token', Buffer.from((await readFile(join(dataDir, 'hub_admin_token.txt'), 'utf8')).trim()))
  const key = z.object({ privateKey: z.instanceof(Uint8Array) })
  for (const file of ['hub_key', 'hub_next_key']) {
    secrets.set(file, key.parse(decodeCbor(await readFile(join(dataDir, file)), maxKeyBytes)).privateKey)
  }
}

describe('what people write', () => {
  test('is in no file of the hub, neither while it holds a message nor afterwards', () => {
    expect(hubFiles.filter(({ name }) => /hub\.db|envelopes|hub\.log/.test(name)).length).toBeGreaterThan(4)
    expect(everywhere(hubFiles, Object.values(words))).toEqual([])
  })

  test('is in nothing that goes between nodes and hub', () => {
    const recorded = proxy.recorded()
    expect(recorded.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeGreaterThan(large.length)
    expect(everywhere(recorded, Object.values(words))).toEqual([])
  })

  test('is in no file of the nodes, which seal it', async () => {
    const files = (
      await Promise.all([network.operator, network.provider].map(({ dataDir }) => filesBelow(dataDir)))
    ).flat()
    expect(files.some(({ name }) => name === 'node.db')).toBe(true)
    expect(everywhere(files, Object.values(words))).toEqual([])
  })

  test('is where it must be: the same search finds it in the answers of the endpoint', () => {
    for (const [what, word] of Object.entries(words)) {
      expect(findIn(answers, Buffer.from(word)), what).not.toEqual([])
    }
    expect(findIn(answers, Buffer.from(words.file)).join()).toContain('base64')
    expect(findIn(answers, Buffer.from(words.text)).join()).toContain('raw')
  })
})

describe('the search', () => {
  test('finds a word in a file, in every form and at every offset', async () => {
    const folder = join(network.folder, 'planted')
    await mkdir(folder)
    const word = canary()
    const texts = ['', 'x', 'xy', 'xyz'].map((before) => Buffer.from(`${before}${word} and more`))
    const planted: [string, string | Buffer][] = [
      ['raw', texts[1] ?? ''],
      ['utf16', Buffer.from(word, 'utf16le')],
      ['hex', Buffer.from(word).toString('hex')],
      ['HEX', Buffer.from(word).toString('hex').toUpperCase()],
      ...texts.map((text, index): [string, string] => [`base64-${index}`, text.toString('base64')]),
      ...texts.map((text, index): [string, string] => [`base64url-${index}`, text.toString('base64url')]),
    ]
    for (const [name, content] of planted) await writeFile(join(folder, name), content)
    const found = findIn(await filesBelow(folder), Buffer.from(word)).map((where) => where.split(':')[0])
    expect([...new Set(found)].toSorted(byName)).toEqual(planted.map(([name]) => name).toSorted(byName))
    // bytes in which base64 and base64url differ
    const odd = Buffer.from('fbefbefbefbffffefdfcfb', 'hex')
    expect(formsOf(odd).get('base64 at 0')).not.toEqual(formsOf(odd).get('base64url at 0'))
  })

  test('finds what a node that seals nothing would send, in a request and in a masked frame', async () => {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
    onTestFinished(() => {
      server.close()
    })
    await once(server, 'listening')
    const recording = await recordTraffic(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    onTestFinished(() => recording.close())
    const [sent, framed, answered] = [canary(), canary(), canary()]
    await fetch(recording.url, { method: 'POST', body: Buffer.from(`..${sent}..`).toString('base64') })
    server.once('connection', (peer) => peer.once('message', () => peer.send(Buffer.from(`..${answered}`))))
    const socket = new WebSocket(recording.url.replace('http', 'ws'))
    onTestFinished(() => socket.terminate())
    await once(socket, 'open')
    socket.send(Buffer.from(`${'.'.repeat(300)}${framed}`))
    await once(socket, 'message')
    const found = (word: string): string => findIn(recording.recorded(), Buffer.from(word)).join()
    expect(found(sent)).toContain('to the hub: base64')
    expect(found(framed)).toContain('to the hub, unmasked: raw')
    expect(found(answered)).toContain('from the hub: raw')
  })
})

describe('keys and tokens', () => {
  test('are in no log, in nothing that a process printed, and in no traffic with the hub', async () => {
    const files = await filesBelow(network.folder)
    const logs = files.filter(({ name }) => name.includes('logs/') || name.endsWith('.log'))
    expect(logs.map(({ name }) => name).toSorted()).toEqual([
      'hub/logs/hub.log',
      'operator/logs/node.log',
      'provider/logs/node.log',
    ])
    const printed = Object.values(network.programs).map(({ name, output }) => ({ name, bytes: Buffer.from(output) }))
    expect(everywhere([...logs, ...printed, ...proxy.recorded()], secrets.values())).toEqual([])
  })

  test('are in no file but their own', async () => {
    const own = /token(\.txt)?$|\/keys\/wrapping-\w+\.key$|^hub\/hub_(next_)?key$/
    const files = await filesBelow(network.folder)
    expect(
      everywhere(
        files.filter(({ name }) => !own.test(name)),
        secrets.values(),
      ),
    ).toEqual([])
    // and the search would have found them: tokens and keys lie there as they are
    const found = everywhere(
      files.filter(({ name }) => own.test(name)),
      secrets.values(),
    )
    expect(found.filter((where) => /a2a_token|wrapping|hub_key|token: raw/.test(where)).length).toBeGreaterThan(4)
  })

  test('are in no argument and no environment of a process', async () => {
    expect(faces.length).toBeGreaterThanOrEqual(8)
    expect(everywhere(faces, secrets.values())).toEqual([])
    const token = network.agentToken
    const child = spawn(process.execPath, ['-e', 'process.stdin.resume()', '--', `--token=${token}`], {
      env: { TOKEN: token },
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    await once(child, 'spawn')
    const pid = child.pid ?? 0
    expect(findIn(await processFaces(pid), Buffer.from(token))).toEqual([`${pid} cmdline: raw`, `${pid} environ: raw`])
  })
})
