import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { type Child, forkChild, type StartChild } from './child.ts'
import { secretStoreUnavailable } from './errors.ts'

/** What the child in keychain-worker.ts is asked. Values are base64. */
export type KeychainRequest =
  | { readonly call: 'get'; readonly account: string }
  | { readonly call: 'set'; readonly account: string; readonly value: string }
  | { readonly call: 'delete'; readonly account: string }

const keychainAnswerSchema = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), value: z.string().max(1024).nullable() }),
  z.object({ ok: z.literal(false), error: z.string().max(4096) }),
])
export type KeychainAnswer = z.infer<typeof keychainAnswerSchema>

export interface KeychainOptions {
  readonly startChild?: StartChild
  /** Built entry point of the child; in the product `out/workers/keychain.js`. */
  readonly entry?: string
  readonly timeoutMs?: number
}

/**
 * The desktop's keychain (Secret Service, Keychain, Credential Manager) through keytar. Each call runs in a child
 * process: keytar can hang for ever, and would then keep this process from ending too. All errors are
 * `secret_store_unavailable`; `get` answers null where the keychain has nothing *or does not say*.
 */
export class Keychain {
  readonly #options: Required<KeychainOptions>

  constructor(options: KeychainOptions = {}) {
    this.#options = {
      startChild: options.startChild ?? forkChild,
      entry: options.entry ?? fileURLToPath(new URL('../workers/keychain.js', import.meta.url)),
      timeoutMs: options.timeoutMs ?? 5000,
    }
  }

  async get(account: string): Promise<Uint8Array | null> {
    const value = await this.#call({ call: 'get', account })
    return value === null ? null : new Uint8Array(Buffer.from(value, 'base64'))
  }

  async set(account: string, value: Uint8Array): Promise<void> {
    await this.#call({ call: 'set', account, value: Buffer.from(value).toString('base64') })
  }

  async delete(account: string): Promise<void> {
    await this.#call({ call: 'delete', account })
  }

  #call(request: KeychainRequest): Promise<string | null> {
    const { startChild, entry, timeoutMs } = this.#options
    return new Promise((resolve, reject) => {
      let child: Child
      try {
        child = startChild(entry)
      } catch (cause) {
        reject(secretStoreUnavailable("the keychain's helper process did not start.", cause))
        return
      }
      const end = (settle: () => void): void => {
        clearTimeout(timer)
        child.kill()
        settle()
      }
      const refuse = (why: string): void => end(() => reject(secretStoreUnavailable(why)))
      const timer = setTimeout(() => {
        refuse(
          `the keychain did not answer within ${timeoutMs / 1000} seconds. Perhaps it is locked and nobody was asked.`,
        )
      }, timeoutMs)
      child.listen(
        (message) => {
          const answer = keychainAnswerSchema.safeParse(message)
          if (!answer.success) refuse('the keychain gave an answer that makes no sense.')
          else if (!answer.data.ok) refuse(`the keychain says: ${answer.data.error}`)
          else {
            const { value } = answer.data
            end(() => resolve(value))
          }
        },
        (why) => refuse(`the keychain's helper process failed: ${why}.`),
      )
      child.send(request)
    })
  }
}
