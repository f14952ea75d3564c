import { describe, expect, it } from 'vitest'
import { limits } from '../../../src-shared/wire/index.ts'
import { RecentNonces } from '../../../src-hub/mailbox/recent-nonces.ts'

const { skew } = limits.request
const nonce = (value: number): Uint8Array => new Uint8Array(limits.request.nonceBytes).fill(value)

function desk() {
  const time = { now: 1_800_000_000_000, elapsed: 0 }
  const nonces = new RecentNonces({ now: () => time.now }, () => time.elapsed)
  const pass = (ms: number): void => {
    time.now += ms
    time.elapsed += ms
  }
  return { time, nonces, pass }
}

describe('nonces in memory', () => {
  it('are good once', () => {
    const { time, nonces } = desk()
    expect(nonces.use({ time: time.now, nonce: nonce(1) })).toBe(true)
    expect(nonces.use({ time: time.now, nonce: nonce(1) })).toBe(false)
    expect(nonces.use({ time: time.now, nonce: nonce(2) })).toBe(true)
    expect(nonces.use({ time: time.now + 1, nonce: nonce(1) })).toBe(true)
  })

  it('are remembered as long as the request could be accepted, however its sender dated it', () => {
    for (const ahead of [-skew, 0, skew]) {
      const { time, nonces, pass } = desk()
      pass(skew)
      const request = { time: time.now + ahead, nonce: nonce(1) }
      expect(nonces.use(request)).toBe(ahead >= -skew)
      for (let step = 0; step < 20; step += 1) {
        pass(skew / 7)
        nonces.use({ time: time.now, nonce: nonce(2 + step) })
        expect(nonces.use(request)).toBe(false)
      }
    }
  })

  it('of a time that is forgotten count as used, whatever the clock says', () => {
    const { time, nonces, pass } = desk()
    const request = { time: time.now, nonce: nonce(1) }
    expect(nonces.use(request)).toBe(true)
    for (let step = 0; step < 10; step += 1) {
      pass(2 * skew)
      nonces.use({ time: time.now, nonce: nonce(9) })
    }
    time.now = request.time
    expect(nonces.use(request)).toBe(false)
  })

  it('of requests from before the process began count as used', () => {
    const { time, nonces } = desk()
    expect(nonces.use({ time: time.now - 1, nonce: nonce(1) })).toBe(false)
  })
})
