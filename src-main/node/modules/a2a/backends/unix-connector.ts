import { connect as connectSocket, type Socket } from 'node:net'
import { AnetError } from '@shared/errors.ts'
import type { BackendConfig } from '@shared/config/index.ts'
import type { Accounts } from './accounts.ts'
import { openSocket } from './open-socket.ts'
import { checkSocketPath, type SocketPathRules } from './socket-path.ts'
import { type Connector, type ConnectorSurroundings, wellKnownCard } from './types.ts'

/** A backend on a unix socket: path and listener are checked on each connection (spec/provider.md, Backends). */
export function createUnixConnector(backend: BackendConfig, surroundings: ConnectorSurroundings): Connector {
  const path = decodeURI(backend.url.slice('unix://'.length))

  async function connect(signal: AbortSignal): Promise<{ socket: Socket; sentence: string }> {
    const rules = await pathRules(backend, surroundings)
    const { socketUid } = await checkSocketPath(path, rules)
    const expected = rules.expectedUid ?? socketUid
    const peerUid = await surroundings.peerUid()
    if (peerUid === undefined && backend.peer_check !== 'path-only') {
      throw new AnetError('backend_unknown_peer', `This platform does not say which account listens on ${path}.`, {
        remedy: 'Set "peer_check": "path-only" for this backend to rely on the check of the path alone.',
      })
    }
    const socket = await openSocket(() => connectSocket({ path }), path, signal)
    if (peerUid === undefined) {
      return { socket, sentence: `path of ${path} checked; the listening account is not checked (path-only)` }
    }
    try {
      const uid = peerUid(socket)
      if (uid !== expected) {
        const named = rules.expectedUid === undefined ? 'the owner of the socket' : `expected_user`
        throw new AnetError(
          'backend_untrusted_peer',
          `The process that listens on ${path} runs as uid ${uid}, not as ${named} (uid ${expected}).`,
          { remedy: 'Find out who holds the socket, or name its account in "expected_user" of this backend.' },
        )
      }
      return { socket, sentence: `path of ${path} checked; the listener runs as uid ${uid}` }
    } catch (error) {
      socket.destroy()
      throw error
    }
  }

  return {
    origin: 'http://localhost',
    onSocket: true,
    cardPath: wellKnownCard,
    connect: async (signal) => (await connect(signal)).socket,
    async check(signal) {
      const { socket, sentence } = await connect(signal)
      socket.destroy()
      return sentence
    },
  }
}

async function pathRules(backend: BackendConfig, surroundings: ConnectorSurroundings): Promise<SocketPathRules> {
  const { accounts, nodeUid } = surroundings
  const socketGroup = backend.socket_group === undefined ? undefined : await accounts.group(backend.socket_group)
  if (backend.socket_group !== undefined && socketGroup === undefined) {
    throw new AnetError('backend_unknown_user', `There is no group "${backend.socket_group}" on this machine.`, {
      remedy: 'Correct "socket_group" of this backend in config.json.',
    })
  }
  return { accounts, nodeUid, socketGroup, expectedUid: await expectedUid(backend, accounts) }
}

async function expectedUid(backend: BackendConfig, accounts: Accounts): Promise<number | undefined> {
  if (backend.expected_user === undefined) return undefined
  if (/^\d+$/.test(backend.expected_user)) return Number(backend.expected_user)
  const user = await accounts.user(backend.expected_user)
  if (user !== undefined) return user.uid
  throw new AnetError('backend_unknown_user', `There is no user "${backend.expected_user}" on this machine.`, {
    remedy: 'Correct "expected_user" of this backend in config.json.',
  })
}
