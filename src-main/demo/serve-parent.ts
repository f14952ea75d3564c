import { AnetError, errorView } from '@shared/errors.ts'
import { callSchema } from './child-protocol.ts'

type Method = (input: unknown) => Promise<unknown>

/** Electron's utility processes have a port where Node's have a channel. */
interface ParentPort {
  on(event: 'message', listener: (event: { data: unknown }) => void): void
  postMessage(message: unknown): void
}

const stopDeadlineMs = 4_000

/**
 * Answers the calls of the parent. The process lives as long as the channel: when the parent is gone, however it went,
 * `stop` runs and the process ends. Ctrl+C reaches every process of the terminal; the parent alone acts on it.
 */
export function serveParent(methods: Readonly<Record<string, Method>>, stop: () => Promise<void>): void {
  let stopping = false
  const end = (): void => {
    if (stopping) return
    stopping = true
    setTimeout(() => process.exit(1), stopDeadlineMs).unref()
    void stop()
      .catch(() => undefined)
      .then(() => process.exit(0))
  }
  const port = Reflect.get(process, 'parentPort') as ParentPort | undefined
  const send = (message: object): void => {
    if (port === undefined) process.send?.(message)
    else port.postMessage(message)
  }
  const receive = (message: unknown): void => {
    const call = callSchema.safeParse(message)
    if (!call.success) return
    const { id, method, input } = call.data
    if (method === 'stop') {
      end()
      return
    }
    answer(methods[method], input).then(
      (value) => send({ id, value }),
      (error: unknown) => send({ id, error: errorView(error) }),
    )
  }
  process.on('SIGINT', () => undefined)
  process.on('SIGTERM', end)
  process.on('disconnect', end)
  if (port === undefined) process.on('message', receive)
  else port.on('message', (event) => receive(event.data))
}

async function answer(method: Method | undefined, input: unknown): Promise<unknown> {
  if (method === undefined) throw new AnetError('unknown_method', 'This process of the demo does not know the call.')
  return method(input)
}
