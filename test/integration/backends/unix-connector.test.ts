import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backendSchema } from '@shared/config/index.ts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createConnector, systemSurroundings } from '../../../src-main/node/modules/a2a/backends/connector.ts'

let dir: string
let server: Server
/** Every byte that reached the listener. */
let received: Buffer[]
const open = new Set<Socket>()

beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), 'anet-backend-')))
  received = []
  server = createServer((socket) => {
    open.add(socket)
    socket.on('data', (data) => received.push(data))
    socket.on('error', () => undefined)
  })
})

afterEach(async () => {
  for (const socket of open) socket.destroy()
  open.clear()
  await new Promise<void>((resolve) => server.close(() => resolve()))
  await rm(dir, { recursive: true, force: true })
})

async function listenAt(path: string): Promise<void> {
  await new Promise<void>((resolve) => server.listen(path, resolve))
}

function connector(path: string, settings: object = {}, surroundings: object = {}) {
  const backend = backendSchema.parse({ match: '*', url: `unix://${path}`, ...settings })
  return createConnector(backend, { ...systemSurroundings(), ...surroundings })
}

const signal = () => AbortSignal.timeout(5_000)

test('a socket of this user in a directory of this user is taken, and says what was checked', async () => {
  const path = join(dir, 'a.sock')
  await listenAt(path)
  const socket = await connector(path).connect(signal())
  socket.destroy()
  expect(await connector(path).check(signal())).toContain(`the listener runs as uid ${process.getuid?.()}`)
})

test('a listener that is not expected_user gets no byte', async () => {
  const path = join(dir, 'a.sock')
  await listenAt(path)
  await expect(connector(path, { expected_user: '64123' }).connect(signal())).rejects.toMatchObject({
    code: 'backend_untrusted_peer',
    message: expect.stringContaining('64123'),
  })
  expect(received).toEqual([])
})

test('a listener of another account than the owner of the socket gets no byte', async () => {
  const path = join(dir, 'a.sock')
  await listenAt(path)
  const foreign = { peerUid: async () => () => 64123 }
  await expect(connector(path, {}, foreign).connect(signal())).rejects.toMatchObject({ code: 'backend_untrusted_peer' })
  expect(received).toEqual([])
})

test('a directory that everybody may write is refused, and says which', async () => {
  const loose = join(dir, 'loose')
  await mkdir(loose)
  const path = join(loose, 'a.sock')
  await listenAt(path)
  await chmod(loose, 0o777)
  await expect(connector(path).connect(signal())).rejects.toMatchObject({
    code: 'backend_untrusted_path',
    message: expect.stringContaining(`${loose} (mode 0777)`),
    remedy: expect.stringContaining('chmod go-w'),
  })
})

test('so is one further up the path', async () => {
  const inner = join(dir, 'loose', 'inner')
  await mkdir(inner, { recursive: true })
  await chmod(join(dir, 'loose'), 0o777)
  const path = join(inner, 'a.sock')
  await listenAt(path)
  await expect(connector(path).connect(signal())).rejects.toMatchObject({ code: 'backend_untrusted_path' })
})

test('a group that is not named may not write the directory', async () => {
  const shared = join(dir, 'shared')
  await mkdir(shared)
  await chmod(shared, 0o770)
  const path = join(shared, 'a.sock')
  await listenAt(path)
  const strangers = { user: async () => undefined, group: async () => undefined, withPrimaryGroup: async () => [] }
  await expect(connector(path, {}, { accounts: strangers }).connect(signal())).rejects.toMatchObject({
    code: 'backend_untrusted_path',
    message: expect.stringContaining('gid'),
  })
})

test('members of socket_group may write the directory', async () => {
  const shared = join(dir, 'shared')
  await mkdir(shared)
  await chmod(shared, 0o770)
  const path = join(shared, 'a.sock')
  await listenAt(path)
  const gid = process.getgid?.() ?? 0
  const accounts = {
    user: async () => undefined,
    group: async (key: string | number) =>
      key === 'agents' || key === gid ? { name: 'agents', gid, members: ['someone'] } : undefined,
    withPrimaryGroup: async () => [],
  }
  const socket = await connector(path, { socket_group: 'agents' }, { accounts }).connect(signal())
  socket.destroy()
})

test('the sticky bit keeps an own directory safe, and not a socket that anybody could have put there', async () => {
  const sticky = join(dir, 'sticky')
  await mkdir(join(sticky, 'own'), { recursive: true })
  await chmod(sticky, 0o1777)
  const path = join(sticky, 'own', 'a.sock')
  await listenAt(path)
  const socket = await connector(path).connect(signal())
  socket.destroy()
  const someoneElse = { nodeUid: 64123 }
  const refused = connector(path, {}, someoneElse).connect(signal())
  if (process.getuid?.() === 0) {
    // root is trusted by everybody
    ;(await refused).destroy()
  } else {
    await expect(refused).rejects.toMatchObject({ code: 'backend_untrusted_path' })
  }
})

test('symbolic links are followed, and the way to their targets is checked', async () => {
  const real = join(dir, 'real')
  await mkdir(real)
  await symlink(real, join(dir, 'link'))
  await listenAt(join(real, 'a.sock'))
  const path = join(dir, 'link', 'a.sock')
  ;(await connector(path).connect(signal())).destroy()
  await chmod(real, 0o777)
  await expect(connector(path).connect(signal())).rejects.toMatchObject({ code: 'backend_untrusted_path' })
})

test('links in a circle, a file and a missing socket are refused by name', async () => {
  await symlink(join(dir, 'b'), join(dir, 'a'))
  await symlink(join(dir, 'a'), join(dir, 'b'))
  await writeFile(join(dir, 'file'), '')
  await expect(connector(join(dir, 'a')).connect(signal())).rejects.toMatchObject({ code: 'backend_untrusted_path' })
  await expect(connector(join(dir, 'file')).connect(signal())).rejects.toMatchObject({ message: /is not a socket/ })
  await expect(connector(join(dir, 'none')).connect(signal())).rejects.toMatchObject({ code: 'backend_unreachable' })
})

test('a socket without a listener is unreachable', async () => {
  const path = join(dir, 'a.sock')
  await listenAt(path)
  const { rename } = await import('node:fs/promises')
  // closing removes the file, so that it is kept under another name
  await rename(path, join(dir, 'kept.sock'))
  await new Promise<void>((resolve) => server.close(() => resolve()))
  server = createServer()
  await expect(connector(join(dir, 'kept.sock')).connect(signal())).rejects.toMatchObject({
    code: 'backend_unreachable',
    message: expect.stringContaining('ECONNREFUSED'),
  })
})

test('where the platform cannot tell the listener, only path-only goes on, and says so', async () => {
  const path = join(dir, 'a.sock')
  await listenAt(path)
  const blind = { peerUid: async () => undefined }
  await expect(connector(path, {}, blind).connect(signal())).rejects.toMatchObject({
    code: 'backend_unknown_peer',
    remedy: expect.stringContaining('path-only'),
  })
  expect(await connector(path, { peer_check: 'path-only' }, blind).check(signal())).toContain('not checked')
})

test('an unknown expected_user or socket_group is named', async () => {
  const path = join(dir, 'a.sock')
  await listenAt(path)
  await expect(connector(path, { expected_user: 'no-such-user' }).connect(signal())).rejects.toMatchObject({
    message: expect.stringContaining('"no-such-user"'),
  })
  await expect(connector(path, { socket_group: 'no-such-group' }).connect(signal())).rejects.toMatchObject({
    message: expect.stringContaining('"no-such-group"'),
  })
})
