import { describe, expect, it } from 'vitest'
import { SenderShares } from '../../../src-hub/mailbox/sender-shares.ts'

const limits = { mailboxMessages: 100, mailboxBytes: 1000, senderShare: 0.05 }
const held = (size: number, from = 'sender', to = 'box') => ({ to, from, size })

describe('shares of a mailbox', () => {
  it('hold a sender to its part of the messages, and give the room back', () => {
    const shares = new SenderShares(limits)
    for (let id = 1; id <= 5; id += 1) {
      shares.take(held(1))
      shares.keep(id, held(1))
    }
    expect(() => shares.take(held(1))).toThrow(/share/)
    shares.take(held(1, 'another sender'))
    shares.take(held(1, 'sender', 'another box'))
    shares.release([3, 3, 99])
    shares.take(held(1))
    expect(() => shares.take(held(1))).toThrow(/share/)
  })

  it('hold a sender to its part of the bytes', () => {
    const shares = new SenderShares(limits)
    shares.take(held(30))
    expect(() => shares.take(held(30))).toThrow(/share/)
    shares.take(held(20))
  })

  it('let one message through that is larger than a share, but nothing beside it', () => {
    const shares = new SenderShares(limits)
    shares.take(held(900))
    shares.keep(1, held(900))
    expect(() => shares.take(held(1))).toThrow(/share/)
    shares.release([1])
    shares.take(held(1))
  })

  it('give the room of a message back that was not stored', () => {
    const shares = new SenderShares({ ...limits, mailboxMessages: 20 })
    shares.take(held(1))
    shares.giveBack(held(1))
    shares.take(held(1))
    expect(() => shares.take(held(1))).toThrow(/share/)
  })
})
