import type { Config } from '@shared/config/index.ts'
import type { Aid } from '@shared/wire/index.ts'
import type { InboundPolicy } from './types.ts'

interface Lists {
  readonly trust: ReadonlySet<Aid>
  readonly allow: ReadonlySet<Aid>
  readonly deny: ReadonlySet<Aid>
}

/**
 * Who may send what (spec/provider.md): deny wins, then the trust and allow lists accept, then the inbound policy
 * decides about strangers. `config` is asked for each message, so that a change counts from the next one on.
 */
export function createInboundPolicy(config: () => Config): InboundPolicy {
  let built: { readonly from: Config['peers']; readonly lists: Lists } | undefined

  const listsOf = ({ peers }: Config): Lists => {
    if (built?.from !== peers) {
      const aids = (entries: Config['peers']['deny']): ReadonlySet<Aid> => new Set(entries.map(({ aid }) => aid))
      built = { from: peers, lists: { trust: aids(peers.trust), allow: aids(peers.allow), deny: aids(peers.deny) } }
    }
    return built.lists
  }

  return {
    decide(peer) {
      const current = config()
      const { trust, allow, deny } = listsOf(current)
      if (deny.has(peer)) return { verdict: 'refuse', trusted: false, listed: false }
      const trusted = trust.has(peer)
      if (trusted || allow.has(peer)) return { verdict: 'accept', trusted, listed: true }
      const verdict = ({ closed: 'refuse', approve: 'ask', open: 'accept' } as const)[current.inbound.policy]
      return { verdict, trusted: false, listed: false }
    },
  }
}
