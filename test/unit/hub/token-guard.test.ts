import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { TokenGuard } from '../../../src-hub/admin/token-guard.ts'

describe('the guard of the admin token', () => {
  beforeEach(() => {
    vi.useFakeTimers()
    vi.advanceTimersByTime(1_000_000)
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('makes those wait who guess, 1 to 10 seconds, and never the one who knows', () => {
    const guard = new TokenGuard('right')
    const waits: number[] = []
    for (let guess = 0; guess < 6; guess += 1) {
      expect(guard.check('wrong')).toBe('wrong')
      const verdict = guard.check('wrong again')
      if (typeof verdict === 'string') throw new Error(`not made to wait: ${verdict}`)
      waits.push(verdict.retryAfter)
      vi.advanceTimersByTime(verdict.retryAfter * 1000)
    }
    expect(waits).toEqual([1, 2, 4, 8, 10, 10])
    guard.check(undefined)
    expect(guard.check('right')).toBe('right')
    expect(guard.check('wrong')).toBe('wrong')
    expect(guard.check('wrong')).toEqual({ retryAfter: 1 })
  })

  it('forgets after a minute', () => {
    const guard = new TokenGuard('right')
    for (let guess = 0; guess < 5; guess += 1) {
      guard.check('wrong')
      vi.advanceTimersByTime(10_000)
    }
    vi.advanceTimersByTime(70_000)
    guard.check('wrong')
    expect(guard.check('wrong')).toEqual({ retryAfter: 1 })
  })
})
