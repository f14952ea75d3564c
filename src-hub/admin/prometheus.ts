import type { HubMetrics } from '../metrics.ts'
import type { Totals } from '../store/index.ts'

/** Prometheus text exposition format 0.0.4. */
export function prometheusText(metrics: HubMetrics, totals: Totals, open: { sessions: number; polls: number }): string {
  const lines: string[] = []
  const add = (
    name: string,
    type: 'counter' | 'gauge',
    help: string,
    values: readonly (readonly [string, number])[],
  ) => {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`)
    for (const [labels, value] of values) lines.push(`${name}${labels === '' ? '' : `{${labels}}`} ${value}`)
  }
  const one = (value: number) => [['', value]] as const

  add('anet_hub_members', 'gauge', 'Agents by state.', [
    ['state="member"', totals.members],
    ['state="waiting"', totals.waiting],
    ['state="removed"', totals.removed],
  ])
  add('anet_hub_sessions', 'gauge', 'Open mailbox sessions.', one(open.sessions))
  add('anet_hub_polls', 'gauge', 'Long polls that wait.', one(open.polls))
  add('anet_hub_mailbox_messages', 'gauge', 'Stored envelopes.', one(totals.messages))
  add('anet_hub_mailbox_bytes', 'gauge', 'Bytes of stored envelopes.', one(totals.bytes))
  add('anet_hub_forks', 'gauge', 'Contradicting statements kept as proof.', one(totals.forks))
  add('anet_hub_envelopes_stored_total', 'counter', 'Envelopes taken in.', one(metrics.stored.value))
  add('anet_hub_envelope_bytes_stored_total', 'counter', 'Bytes of envelopes taken in.', one(metrics.storedBytes.value))
  add(
    'anet_hub_envelopes_delivered_total',
    'counter',
    'Deliveries, repeated ones included.',
    one(metrics.delivered.value),
  )
  add(
    'anet_hub_envelopes_acknowledged_total',
    'counter',
    'Envelopes deleted at acknowledgement.',
    one(metrics.acknowledged.value),
  )
  add(
    'anet_hub_envelopes_expired_total',
    'counter',
    'Envelopes deleted unread after their time.',
    one(metrics.expired.value),
  )
  add('anet_hub_ephemeral_total', 'counter', 'Envelopes that were only handed over.', one(metrics.ephemeral.value))
  add(
    'anet_hub_ephemeral_dropped_total',
    'counter',
    'Of these, dropped before a slow session.',
    one(metrics.ephemeralDropped.value),
  )
  add(
    'anet_hub_requests_total',
    'counter',
    'Requests by route and status.',
    [...metrics.requests].map(([labels, counter]) => [labels, counter.value] as const),
  )
  const memory = process.memoryUsage()
  add('process_resident_memory_bytes', 'gauge', 'Resident memory.', one(memory.rss))
  add('process_uptime_seconds', 'gauge', 'Seconds since the start of the process.', one(Math.round(process.uptime())))
  return `${lines.join('\n')}\n`
}
