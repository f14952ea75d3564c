import type { Aid } from '@shared/wire/index.ts'
import type { HubLog } from '../options.ts'
import type { WakeBus, WakeEvent } from './types.ts'

/** The bus of a hub that is one process. */
export function createInProcessBus(log: HubLog): WakeBus {
  const listeners = new Map<Aid, Set<(event: WakeEvent) => void>>()
  return {
    publish: (aid, event) => {
      for (const listener of listeners.get(aid) ?? []) {
        try {
          listener(event)
        } catch (error) {
          log.error({ err: error, event: event.type }, 'A mailbox could not be woken')
        }
      }
    },
    subscribe: (aid, listener) => {
      const set = listeners.get(aid) ?? new Set()
      listeners.set(aid, set.add(listener))
      return () => {
        set.delete(listener)
        if (set.size === 0 && listeners.get(aid) === set) listeners.delete(aid)
      }
    },
    close: async () => listeners.clear(),
  }
}
