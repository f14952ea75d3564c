import { describe, expect, it } from 'vitest'
import { HubError } from '../../../src-hub/errors.ts'
import { RateLimit } from '../../../src-hub/rate-limit.ts'

function refusal(work: () => void): HubError | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    if (error instanceof HubError) return error
    throw error
  }
}

describe('a rate limit', () => {
  it('lets a burst through, then the rate, and says when to come again', () => {
    let now = 1_000_000
    const limit = new RateLimit(20, 200, { now: () => now })
    for (let sent = 0; sent < 200; sent += 1) limit.take('a')
    expect(refusal(() => limit.take('a'))).toMatchObject({ code: 'rate_limited', status: 429, retryAfter: 1 })
    now += 1000
    for (let sent = 0; sent < 20; sent += 1) limit.take('a')
    expect(refusal(() => limit.take('a'))?.code).toBe('rate_limited')
  })

  it('counts each name for itself', () => {
    const limit = new RateLimit(1, 1, { now: () => 0 })
    limit.take('a')
    limit.take('b')
    expect(refusal(() => limit.take('a'))?.code).toBe('rate_limited')
  })

  it('gives nothing for a clock that goes back', () => {
    let now = 1_000_000
    const limit = new RateLimit(1, 1, { now: () => now })
    limit.take('a')
    now -= 500_000
    expect(refusal(() => limit.take('a'))?.code).toBe('rate_limited')
    now += 2000
    limit.take('a')
  })

  it('forgets full buckets only', () => {
    let now = 0
    const limit = new RateLimit(1, 10, { now: () => now })
    for (let sent = 0; sent < 10; sent += 1) limit.take('a')
    limit.prune()
    expect(refusal(() => limit.take('a'))?.code).toBe('rate_limited')
    now += 10_000
    limit.prune()
    for (let sent = 0; sent < 10; sent += 1) limit.take('a')
    expect(refusal(() => limit.take('a'))?.code).toBe('rate_limited')
  })
})
