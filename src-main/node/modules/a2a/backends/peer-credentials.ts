import type { Socket } from 'node:net'
import { AnetError } from '@shared/errors.ts'

/** uid of the process at the other end of a connected unix socket, as the kernel recorded it. */
export type PeerUid = (socket: Socket) => number

const solSocket = 1
const soPeercred = 17
const ucredBytes = 12

let loading: Promise<PeerUid | undefined> | undefined

/**
 * The function that asks the kernel who is at the other end: SO_PEERCRED on Linux, getpeereid on macOS. Undefined where
 * the platform has neither or the native library cannot be loaded.
 */
export function peerUidOf(): Promise<PeerUid | undefined> {
  loading ??= load().catch(() => undefined)
  return loading
}

async function load(): Promise<PeerUid | undefined> {
  if (process.platform !== 'linux' && process.platform !== 'darwin') return undefined
  const { default: koffi } = await import('koffi')
  const libc = koffi.load(null)
  if (process.platform === 'linux') {
    const getsockopt = libc.func('int getsockopt(int, int, int, _Out_ void *, _Inout_ uint32_t *)')
    return (socket) => {
      const ucred = Buffer.alloc(ucredBytes)
      const length = [ucredBytes]
      if (getsockopt(descriptor(socket), solSocket, soPeercred, ucred, length) !== 0 || length[0] !== ucredBytes) {
        throw unknownPeer()
      }
      // struct ucred { pid_t pid; uid_t uid; gid_t gid; }
      return ucred.readUInt32LE(4)
    }
  }
  const getpeereid = libc.func('int getpeereid(int, _Out_ uint32_t *, _Out_ uint32_t *)')
  return (socket) => {
    const uid = [0]
    if (getpeereid(descriptor(socket), uid, [0]) !== 0 || uid[0] === undefined) throw unknownPeer()
    return uid[0]
  }
}

function descriptor(socket: Socket): number {
  const handle: unknown = Reflect.get(socket, '_handle')
  const fd: unknown = typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'fd') : undefined
  if (typeof fd !== 'number' || fd < 0) throw unknownPeer()
  return fd
}

function unknownPeer(): AnetError {
  return new AnetError('backend_unknown_peer', 'The system does not say which account listens on the socket.')
}
