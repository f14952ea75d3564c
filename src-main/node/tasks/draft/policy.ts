import type { Config } from '@shared/config/index.ts'
import type { InboundPolicy } from '../types.ts'

/**
 * Who may send what (spec/provider.md). `deny` wins; `trust` and `allow` are taken; strangers meet the policy. The
 * configuration is read anew for each message, so that a change takes effect on the next one.
 */
export function createInboundPolicy(config: () => Config): InboundPolicy {
  return {
    decide: (peer) => {
      const { inbound, peers } = config()
      const on = (list: readonly { readonly aid: string }[]): boolean => list.some(({ aid }) => aid === peer)
      if (on(peers.deny)) return { verdict: 'refuse', trusted: false, listed: false }
      const trusted = on(peers.trust)
      const listed = trusted || on(peers.allow)
      if (listed) return { verdict: 'accept', trusted, listed }
      const verdicts = { closed: 'refuse', approve: 'ask', open: 'accept' } as const
      return { verdict: verdicts[inbound.policy], trusted, listed }
    },
  }
}
