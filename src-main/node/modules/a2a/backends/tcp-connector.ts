import { lookup } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { connect as connectSocket, isIP, isIPv4, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { AnetError } from '@shared/errors.ts'
import type { BackendConfig } from '@shared/config/index.ts'
import { openSocket } from './open-socket.ts'
import { type ListeningSocket, listenerUids, parseProcNetTcp } from './proc-net-tcp.ts'
import { type Connector, type ConnectorSurroundings, wellKnownCard } from './types.ts'

/**
 * A backend on TCP (`allow_tcp`). The host is resolved once. A listener on loopback must run as the node's user, and
 * plain http is refused anywhere else, because the token would cross the network in the clear.
 */
export function createTcpConnector(backend: BackendConfig, surroundings: ConnectorSurroundings): Connector {
  const url = new URL(backend.url)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  let resolving: Promise<string> | undefined

  function resolveOnce(): Promise<string> {
    resolving ??= isIP(host) === 0 ? lookup(host).then((found) => found.address) : Promise.resolve(host)
    resolving.catch(() => (resolving = undefined))
    return resolving
  }

  async function connect(signal: AbortSignal): Promise<{ socket: Socket; sentence: string }> {
    let address: string
    try {
      address = await resolveOnce()
    } catch (cause) {
      throw new AnetError('backend_unreachable', `The host ${host} cannot be resolved.`, { cause })
    }
    const loopback = isLoopback(address)
    if (!loopback && url.protocol === 'http:') {
      throw new AnetError(
        'backend_untrusted_peer',
        `${host} is not this machine, and plain http would show the token.`,
        {
          remedy: 'Use https, or a unix socket.',
        },
      )
    }
    const where = `${host}:${port}`
    const plain = await openSocket(() => connectSocket({ host: address, port }), where, signal)
    try {
      if (loopback) await checkListener(plain, where, surroundings.nodeUid)
    } catch (error) {
      plain.destroy()
      throw error
    }
    const who = loopback ? `the listener runs as uid ${surroundings.nodeUid}` : 'the server is checked by TLS'
    if (url.protocol === 'http:') return { socket: plain, sentence: `${where}: ${who}` }
    const servername = isIP(host) === 0 ? { servername: host } : {}
    const secure = await openSocket(
      () => connectTls({ socket: plain, host, ALPNProtocols: ['http/1.1'], ...servername }),
      where,
      signal,
      'secureConnect',
    )
    return { socket: secure, sentence: `${where}: ${who}` }
  }

  return {
    origin: url.origin,
    onSocket: false,
    cardPath: url.pathname.endsWith('.json')
      ? url.pathname + url.search
      : url.pathname.replace(/\/$/, '') + wellKnownCard,
    connect: async (signal) => (await connect(signal)).socket,
    async check(signal) {
      const { socket, sentence } = await connect(signal)
      socket.destroy()
      return sentence
    },
  }
}

function isLoopback(address: string): boolean {
  if (isIPv4(address)) return address.startsWith('127.')
  return address === '::1' || /^::ffff:127\./i.test(address)
}

async function checkListener(socket: Socket, where: string, nodeUid: number): Promise<void> {
  if (process.platform !== 'linux') {
    throw new AnetError('backend_unknown_peer', `This platform does not say which account listens on ${where}.`, {
      remedy: 'Let the agent listen on a unix socket.',
    })
  }
  const tables = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((path) => readFile(path, 'utf8').catch(() => '')),
  )
  const sockets: ListeningSocket[] = tables.flatMap(parseProcNetTcp)
  const uids = listenerUids(sockets, socket.remoteAddress ?? '', socket.remotePort ?? 0)
  if (uids.size === 0) {
    throw new AnetError('backend_unknown_peer', `The system does not say which account listens on ${where}.`)
  }
  const foreign = [...uids].find((uid) => uid !== nodeUid)
  if (foreign === undefined) return
  throw new AnetError(
    'backend_untrusted_peer',
    `The process that listens on ${where} runs as uid ${foreign}, not as the user of this node (uid ${nodeUid}).`,
    { remedy: 'Run the agent as the user of the node, or let it listen on a unix socket.' },
  )
}
