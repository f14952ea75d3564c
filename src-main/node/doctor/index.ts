import type { CheckView } from '@shared/contract/index.ts'
import type { Network } from '../network/index.ts'
import type { Clock } from '../ports.ts'
import type { Store } from '../store/index.ts'
import { attempt, configCheck, dataDirCheck, diskCheck, fail, hubCheck, ok, secretStoreCheck } from './checks.ts'

/** The checks that need no running node: for `anet doctor` while it is down. */
export function checksWithoutNode(dataDir: string): Promise<CheckView[]> {
  return Promise.all([dataDirCheck(dataDir), configCheck(dataDir), secretStoreCheck(dataDir), diskCheck(dataDir)])
}

export interface DoctorParts {
  readonly dataDir: string
  readonly store: Store
  readonly network: Network
  readonly clock: Clock
  /** Checks of the local A2A endpoint and of its backends. */
  readonly modules: () => Promise<readonly CheckView[]>
}

/** Every check of a running node, in the order in which a person would look. */
export async function nodeChecks(parts: DoctorParts): Promise<CheckView[]> {
  const { dataDir, store, network, clock, modules } = parts
  const { joinState } = network
  return [
    ...(await checksWithoutNode(dataDir)),
    await databaseCheck(store),
    await clockCheck(store, clock),
    hubCheck({ ...joinState, hub: joinState.hub ?? null }),
    ...alarmChecks(network),
    ...(await modules()),
  ]
}

/** Damage that was met so far, and whether the evidence chain is whole. */
function databaseCheck(store: Store): Promise<CheckView> {
  return attempt('database', async () => {
    if (store.damage !== undefined) throw store.damage
    const chain = store.evidence.verify()
    if (!chain.ok) {
      return fail(
        `the evidence chain is broken at record ${chain.brokenAt}`,
        'Somebody changed node.db: compare it with a backup of the data directory.',
      )
    }
    return ok(`undamaged; ${chain.records} evidence records in an unbroken chain`)
  })
}

const toleratedMs = 2000

/** The clock against the latest time that this node has ever seen. */
function clockCheck(store: Store, clock: Clock): Promise<CheckView> {
  return attempt('clock', async () => {
    const behind = (await store.write((tx) => store.monotonicNow(tx))) - clock.now()
    if (behind <= toleratedMs) return ok(new Date(clock.now()).toISOString())
    return fail(
      `the clock went back by ${Math.round(behind / 1000)} seconds`,
      'Set the clock of this computer: messages with wrong times are refused.',
    )
  })
}

/** What peers proved wrong about this node's own keys. */
function alarmChecks(network: Network): CheckView[] {
  const alarms = network.alarms()
  if (alarms.length === 0) return []
  return [
    {
      name: 'key history',
      outcome: 'fail',
      seen: `${alarms.length} peers hold a key history of this node that it never made`,
      remedy: 'Somebody may use your keys: rotate them.',
    },
  ]
}
