import type { Socket } from 'node:net'
import { AnetError } from '@shared/errors.ts'

const connectTimeoutMs = 10_000

/** Connects, with a time limit. Errors: `backend_unreachable`; the signal's reason when it is aborted. */
export function openSocket(
  open: () => Socket,
  where: string,
  signal: AbortSignal,
  readyEvent: 'connect' | 'secureConnect' = 'connect',
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const socket = open()
    const settle = (outcome: () => void) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      socket.off('error', onError)
      outcome()
    }
    const fail = (error: unknown) => {
      settle(() => reject(error))
      socket.on('error', () => undefined)
      socket.destroy()
    }
    const unreachable = (why: string) =>
      new AnetError('backend_unreachable', `Nothing answers on ${where}: ${why}.`, {
        remedy: 'Start the agent, or correct "url" of this backend in config.json.',
      })
    const onError = (error: NodeJS.ErrnoException) => fail(unreachable(error.code ?? 'connection failed'))
    const onAbort = () => fail(signal.reason)
    const timer = setTimeout(() => fail(unreachable('no connection within 10 s')), connectTimeoutMs)
    signal.addEventListener('abort', onAbort, { once: true })
    socket.once('error', onError)
    socket.once(readyEvent, () => settle(() => resolve(socket)))
  })
}
