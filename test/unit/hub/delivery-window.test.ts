import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { DeliveryWindow } from '../../../src-hub/mailbox/delivery-window.ts'

const limits = { windowMessages: 3, windowBytes: 100, leftAfter: 30_000 }

describe('the window of a session', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('closes after so many messages and opens with an acknowledgement', async () => {
    const window = new DeliveryWindow(limits)
    for (const id of [1, 2, 3]) {
      await window.room()
      window.add(id, 1)
    }
    const opened = vi.fn()
    const room = window.room().then(opened)
    await vi.advanceTimersByTimeAsync(0)
    expect(opened).not.toHaveBeenCalled()
    window.release([2])
    await room
    expect(window.hasRoom).toBe(true)
  })

  it('closes after so many bytes, but takes one message of any size', async () => {
    const window = new DeliveryWindow(limits)
    await window.room()
    window.add(1, 5000)
    expect(window.hasRoom).toBe(false)
    window.release([1])
    expect(window.hasRoom).toBe(true)
  })

  it('does not let a message that is left hold up the others for ever', async () => {
    const window = new DeliveryWindow(limits)
    for (const id of [1, 2, 3]) window.add(id, 1)
    const room = window.room()
    await vi.advanceTimersByTimeAsync(30_000)
    await room
    expect(window.hasRoom).toBe(true)
  })

  it('lets nobody wait once it is closed', async () => {
    const window = new DeliveryWindow(limits)
    window.add(1, 1000)
    const room = window.room()
    window.close()
    await room
    await window.room()
    expect(vi.getTimerCount()).toBe(0)
  })
})
