import { z } from 'zod'
import type { KeychainAnswer } from './keychain.ts'

const service = 'anet'

const requestSchema = z.discriminatedUnion('call', [
  z.object({ call: z.literal('get'), account: z.string() }),
  z.object({ call: z.literal('set'), account: z.string(), value: z.string() }),
  z.object({ call: z.literal('delete'), account: z.string() }),
])

/** Entry point of the child process that makes one keychain call, answers and is killed. See {@link Keychain}. */
async function answer(message: unknown): Promise<KeychainAnswer> {
  try {
    const request = requestSchema.parse(message)
    // loaded here, so that a native module that is missing or does not fit is an answer too
    const { default: keytar } = await import('keytar')
    switch (request.call) {
      case 'get':
        return { ok: true, value: await keytar.getPassword(service, request.account) }
      case 'set':
        await keytar.setPassword(service, request.account, request.value)
        return { ok: true, value: null }
      case 'delete':
        await keytar.deletePassword(service, request.account)
        return { ok: true, value: null }
    }
  } catch (error) {
    return { ok: false, error: (error instanceof Error ? error.message : String(error)).slice(0, 1024) }
  }
}

interface ParentPort {
  on(event: 'message', listener: (event: { readonly data: unknown }) => void): void
  postMessage(message: unknown): void
}

// a utility process of Electron talks through parentPort, a forked child of Node through process.send
const parentPort = (process as unknown as { parentPort?: ParentPort }).parentPort
if (parentPort === undefined) {
  process.on('message', (message) => void answer(message).then((result) => process.send?.(result)))
} else {
  parentPort.on('message', ({ data }) => void answer(data).then((result) => parentPort.postMessage(result)))
}
