import { AnetError } from '@shared/errors.ts'
import type { Aid, Inner, MessageType } from '@shared/wire/index.ts'
import type { Db, Tx } from '../store/index.ts'
import type { TaskKey } from './types.ts'

/** The numbering of one task with its counterpart, in both directions (spec/network.md, Sealed delivery). */
export interface Channel {
  readonly id: number
  readonly requester: Aid
  readonly task: string
  readonly peer: Aid
  /** Number of this node's next message. */
  readonly nextN: number
  /** Highest number of ours that the peer has acknowledged, -1 for none, and when that last rose. */
  readonly acked: number
  readonly ackedAt: number
  /** Highest number of the peer's that was applied without a gap, -1 for none. */
  readonly received: number
}

const columns = 'id, requester, task, peer, next_n AS nextN, acked, acked_at AS ackedAt, received'

export function channelOf(db: Db, task: TaskKey): Channel | undefined {
  return db.get<Channel>(
    `SELECT ${columns} FROM net_channels WHERE requester = ? AND task = ?`,
    task.requester,
    task.id,
  )
}

export function channelById(db: Db, id: number): Channel | undefined {
  return db.get<Channel>(`SELECT ${columns} FROM net_channels WHERE id = ?`, id)
}

/** Opens the numbering, or finds it open. Another counterpart than before is `unknown_task`. */
export function openChannel(tx: Tx, task: TaskKey, peer: Aid): Channel {
  tx.run(
    'INSERT INTO net_channels (requester, task, peer) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    task.requester,
    task.id,
    peer,
  )
  const channel = channelOf(tx, task)
  if (channel?.peer !== peer) throw unknownTask(task)
  return channel
}

export function unknownTask(task: TaskKey): AnetError {
  return new AnetError('unknown_task', `Task ${task.id} is not one between this node and that agent.`)
}

/** Takes the next number of ours. */
export function takeNumber(tx: Tx, channel: Channel): number {
  tx.run('UPDATE net_channels SET next_n = next_n + 1 WHERE id = ?', channel.id)
  return channel.nextN
}

export function markReceived(tx: Tx, channel: Channel, n: number): void {
  tx.run('UPDATE net_channels SET received = ? WHERE id = ?', n, channel.id)
}

type Role = 'requester' | 'provider'
const senderOf: Partial<Record<MessageType, Role>> = {
  'task.open': 'requester',
  'task.message': 'requester',
  'task.cancel': 'requester',
  'task.status': 'provider',
  'task.artifact': 'provider',
  'task.preview': 'provider',
  refusal: 'provider',
}

/**
 * The task that a message claims to be about. A message counts only in its role's direction; a type that this version
 * does not know may come from either side. Errors: `message_without_task`, `message_wrong_direction`.
 */
export function taskOf(inner: Inner): TaskKey {
  if (inner.task === undefined || inner.requester === undefined)
    throw new AnetError('message_without_task', `A message of type "${inner.type}" has to name its task.`)
  const role: Role | undefined =
    inner.requester === inner.from ? 'requester' : inner.requester === inner.to ? 'provider' : undefined
  const expected = senderOf[inner.type as MessageType]
  if (role === undefined || (expected !== undefined && expected !== role)) {
    throw new AnetError('message_wrong_direction', `A message of type "${inner.type}" does not come from this side.`)
  }
  return { requester: inner.requester, id: inner.task }
}
