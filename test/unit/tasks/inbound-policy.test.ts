import { describe, expect, it } from 'vitest'
import { type Config, configSchema } from '@shared/config/index.ts'
import { createInboundPolicy } from '../../../src-main/node/tasks/index.ts'
import { newAid } from '../../helpers/new-aid.ts'

const [trusted, allowed, denied, stranger] = [newAid(), newAid(), newAid(), newAid()]

function policyOf(policy: Config['inbound']['policy']) {
  return createInboundPolicy(() =>
    configSchema.parse({
      inbound: { policy },
      peers: {
        trust: [{ aid: trusted }, { aid: denied }],
        allow: [{ aid: allowed, label: 'a friend' }],
        deny: [{ aid: denied }],
      },
    }),
  )
}

describe('who may send what', () => {
  it.each(['closed', 'approve', 'open'] as const)('lists win over the policy %s, and deny wins over all', (policy) => {
    const { decide } = policyOf(policy)
    expect(decide(trusted)).toEqual({ verdict: 'accept', trusted: true, listed: true })
    expect(decide(allowed)).toEqual({ verdict: 'accept', trusted: false, listed: true })
    expect(decide(denied)).toEqual({ verdict: 'refuse', trusted: false, listed: false })
  })

  it.each([
    ['closed', 'refuse'],
    ['approve', 'ask'],
    ['open', 'accept'],
  ] as const)('the policy %s means to %s strangers', (policy, verdict) => {
    expect(policyOf(policy).decide(stranger)).toEqual({ verdict, trusted: false, listed: false })
  })

  it('is read anew for each message', () => {
    let config = configSchema.parse({})
    const { decide } = createInboundPolicy(() => config)
    expect(decide(stranger).verdict).toBe('refuse')
    config = configSchema.parse({ peers: { trust: [{ aid: stranger }] } })
    expect(decide(stranger).trusted).toBe(true)
  })
})
