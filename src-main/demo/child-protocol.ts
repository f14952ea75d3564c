import { AnetError, errorView } from '@shared/errors.ts'
import { z } from 'zod'

/** Calls from the demo to its processes, over the IPC channel that they share. */
export const callSchema = z.object({ id: z.number(), method: z.string(), input: z.unknown() })

export const replySchema = z.union([
  z.object({ id: z.number(), value: z.unknown() }),
  z.object({
    id: z.number(),
    error: z.object({ code: z.string(), message: z.string(), remedy: z.string().optional() }),
  }),
])

type Method = (input: unknown) => Promise<unknown>

const stopDeadlineMs = 4_000

/**
 * Answers the calls of the parent. The process lives as long as the channel: when the parent is gone, however it went,
 * `stop` runs and the process ends. Ctrl+C reaches every process of the terminal; the parent alone acts on it.
 */
export function serveParent(methods: Readonly<Record<string, Method>>, stop: () => Promise<void>): void {
  let stopping: Promise<void> | undefined
  const end = (): Promise<void> => {
    stopping ??= stop()
      .catch(() => undefined)
      .then(() => process.exit(0))
    setTimeout(() => process.exit(1), stopDeadlineMs).unref()
    return stopping
  }
  process.on('SIGINT', () => undefined)
  process.on('SIGTERM', () => void end())
  process.on('disconnect', () => void end())
  process.on('message', (message) => {
    const call = callSchema.safeParse(message)
    if (!call.success) return
    const { id, method, input } = call.data
    if (method === 'stop') {
      void end()
      return
    }
    answer(methods[method], input).then(
      (value) => process.send?.({ id, value }),
      (error: unknown) => process.send?.({ id, error: errorView(error) }),
    )
  })
}

async function answer(method: Method | undefined, input: unknown): Promise<unknown> {
  if (method === undefined) throw new AnetError('unknown_method', 'This process of the demo does not know the call.')
  return method(input)
}
