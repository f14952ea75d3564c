import { readFile, stat } from 'node:fs/promises'
import { AnetError } from '@shared/errors.ts'
import type { BackendConfig } from '@shared/config/index.ts'
import { type BackendClient, createBackendClient } from './backend-client.ts'
import { createConnector } from './connector.ts'
import { Semaphore } from './semaphore.ts'
import type { Connector, ConnectorSurroundings } from './types.ts'

export interface Backend {
  readonly config: BackendConfig
  readonly connector: Connector
  readonly client: BackendClient
  /** Bounds the connections that wait for answers at once. */
  readonly places: Semaphore
}

const maxAtOnce = 256
const maxTokenBytes = 8192

export function createBackend(config: BackendConfig, surroundings: ConnectorSurroundings): Backend {
  const connector = createConnector(config, surroundings)
  const token = () => readToken(config.token_file)
  return {
    config,
    connector,
    client: createBackendClient({ connector, token }),
    places: new Semaphore(maxAtOnce),
  }
}

/** The bearer token of a backend. Error: `backend_token_unreadable`; the token itself is never part of it. */
async function readToken(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined
  const fail = (why: string, cause?: unknown) =>
    new AnetError('backend_token_unreadable', `The token file ${path} ${why}.`, {
      remedy: 'Correct "token_file" of this backend in config.json, or the rights of the file.',
      ...(cause === undefined ? {} : { cause }),
    })
  try {
    const { size } = await stat(path)
    if (size > maxTokenBytes) throw fail('is too large')
    const token = (await readFile(path, 'utf8')).trim()
    if (!/^[\x21-\x7e]+$/.test(token)) throw fail('does not hold one line of printable characters')
    return token
  } catch (error) {
    throw error instanceof AnetError ? error : fail('cannot be read', error)
  }
}
