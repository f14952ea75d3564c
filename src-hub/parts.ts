import type { WakeBus } from './bus/index.ts'
import type { HubIdentity } from './identity.ts'
import type { RecentNonces } from './mailbox/recent-nonces.ts'
import type { SenderShares } from './mailbox/sender-shares.ts'
import type { Membership } from './membership/index.ts'
import type { HubMetrics } from './metrics.ts'
import type { HubClock, HubLimits, HubLog, HubPolicy } from './options.ts'
import type { HubStore } from './store/index.ts'

/** What the hub is made of; {@link startHub} puts it together. */
export interface HubParts {
  readonly identity: HubIdentity
  readonly name: string
  readonly policy: HubPolicy
  readonly limits: HubLimits
  readonly clock: HubClock
  readonly log: HubLog
  readonly fault: (point: string) => void
  readonly store: HubStore
  readonly bus: WakeBus
  readonly membership: Membership
  readonly shares: SenderShares
  readonly recentNonces: RecentNonces
  readonly metrics: HubMetrics
}
