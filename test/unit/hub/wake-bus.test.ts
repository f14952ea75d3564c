import { describe, expect, it, vi } from 'vitest'
import { createInProcessBus, type WakeBus, type WakeEvent } from '../../../src-hub/bus/index.ts'
import { silentLog } from '../../../src-hub/options.ts'

/** Holds for every implementation of the bus. Events may arrive later than `publish` returns. */
function wakeBusSuite(name: string, open: () => WakeBus): void {
  describe(`the wake-up bus (${name})`, () => {
    it('wakes those who wait for an agent, in order, and nobody else', async () => {
      const bus = open()
      const heard: WakeEvent[] = []
      const others = vi.fn()
      bus.subscribe('a', (event) => heard.push(event))
      bus.subscribe('b', others)
      bus.publish('a', { type: 'mail', id: 1, envelope: undefined })
      bus.publish('a', { type: 'session', session: 's' })
      await expect.poll(() => heard.map((event) => event.type)).toEqual(['mail', 'session'])
      expect(others).not.toHaveBeenCalled()
      await bus.close()
    })

    it('wakes every subscriber of an agent, whatever one of them does', async () => {
      const bus = open()
      const second = vi.fn()
      bus.subscribe('a', () => {
        throw new Error('broken')
      })
      bus.subscribe('a', second)
      bus.publish('a', { type: 'removed' })
      await expect.poll(() => second.mock.calls).toEqual([[{ type: 'removed' }]])
      await bus.close()
    })

    it('wakes nobody who ended the subscription, also in the middle of an event', async () => {
      const bus = open()
      const first = vi.fn()
      const second = vi.fn()
      const end = bus.subscribe('a', first)
      bus.subscribe('a', second)
      end()
      end()
      bus.publish('a', { type: 'removed' })
      await expect.poll(() => second.mock.calls.length).toBe(1)
      expect(first).not.toHaveBeenCalled()
      await bus.close()
    })
  })
}

wakeBusSuite('in process', () => createInProcessBus(silentLog))
