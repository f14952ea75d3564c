import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import type { Clock } from '../../src-main/node/ports.ts'
import { type Migration, openStore, type Store, type StoreOptions } from '../../src-main/node/store/index.ts'
import { temporaryFolder } from './temporary-folder.ts'

export const silentLog = pino({ level: 'silent' })

/** A clock that the test sets. */
export interface SteeredClock extends Clock {
  time: number
}

export function steeredClock(time = 1_700_000_000_000): SteeredClock {
  return {
    time,
    now() {
      return this.time
    },
  }
}

/** A real store in a folder of its own, or in the one given; closed when the test ends. */
export async function temporaryStore(
  options: Partial<StoreOptions> & { migrations?: readonly Migration[] } = {},
): Promise<Store & { readonly dataDir: string }> {
  const dataDir = options.dataDir ?? (await temporaryFolder())
  const store = await openStore({
    dataDir,
    wrappingKey: new Uint8Array(32).fill(7),
    migrations: [],
    log: silentLog,
    clock: steeredClock(),
    ...options,
  })
  onTestFinished(() => store.close())
  return Object.defineProperty(store, 'dataDir', { value: dataDir }) as Store & { readonly dataDir: string }
}
