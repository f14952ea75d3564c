import { join } from 'node:path'

export const controlPaths = { call: '/control/v1/call', events: '/control/v1/events' } as const

/** Largest body of a call: a text of a million characters, escaped as badly as JSON can. */
export const maxCallBytes = 8 * 1024 * 1024

/** Where a running node says how it is reached; both are new at every start and gone after a clean stop. */
export function controlFiles(dataDir: string): { readonly address: string; readonly token: string } {
  return { address: join(dataDir, 'control_addr.txt'), token: join(dataDir, 'control_token.txt') }
}
