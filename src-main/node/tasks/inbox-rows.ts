import type { Aid } from '@shared/wire/index.ts'
import type { Db, Tx } from '../store/index.ts'
import type { InboxItem } from './types.ts'

type ItemState = InboxItem['state']

/** An item, with what the doors do not show. */
export interface ItemRow extends InboxItem {
  readonly task: number
  /** A forwarder took it once: the task may be known to a backend. */
  readonly forwarder: boolean
  /** While it was being forwarded the provider ended the task or asked a question: how the forward ended is known. */
  readonly concluded: boolean
  /** The operator has it, after a forwarder or from the beginning. */
  readonly operator: boolean
}

interface SqlRow {
  readonly id: number
  readonly task: number
  readonly seq: number
  readonly received_at: number
  readonly state: ItemState
  readonly trusted: number
  readonly forwarder: number
  readonly concluded: number
  readonly operator: number
  readonly key: string
  readonly requester: Aid
  readonly peer: Aid
}

const select = `SELECT i.*, t.task AS key, t.requester AS requester, t.peer AS peer
  FROM inbox_items i JOIN tasks t ON t.id = i.task`

export function insertItem(
  tx: Tx,
  item: Pick<ItemRow, 'task' | 'seq' | 'receivedAt' | 'state' | 'trusted' | 'forwarder'>,
): ItemRow {
  const { lastInsertRowid } = tx.run(
    'INSERT INTO inbox_items (task, seq, received_at, state, trusted, forwarder, operator) VALUES (?, ?, ?, ?, ?, ?, ?)',
    item.task,
    item.seq,
    item.receivedAt,
    item.state,
    Number(item.trusted),
    Number(item.forwarder),
    Number(!item.forwarder),
  )
  const row = itemById(tx, lastInsertRowid)
  if (row === undefined) throw new Error('an inbox item vanished while it was written')
  return row
}

export function itemById(db: Db, id: number): ItemRow | undefined {
  const row = db.get<SqlRow>(`${select} WHERE i.id = ?`, id)
  return row === undefined ? undefined : itemFromSql(row)
}

export function itemsOfTask(db: Db, task: number): readonly ItemRow[] {
  return db.all<SqlRow>(`${select} WHERE i.task = ? ORDER BY i.id`, task).map(itemFromSql)
}

/** Items in this state, oldest first. Not for `answered`, of which there is no end. */
export function itemsIn(db: Db, state: Exclude<ItemState, 'answered'>): readonly ItemRow[] {
  return db.all<SqlRow>(`${select} WHERE i.state <> 'answered' AND i.state = ? ORDER BY i.id`, state).map(itemFromSql)
}

/** Newest first, below `before`. `open`: those that are not answered. */
export function itemPage(db: Db, query: { open: boolean; before: number; limit: number }): readonly ItemRow[] {
  const filter = query.open ? "i.state <> 'answered' AND" : ''
  return db
    .all<SqlRow>(`${select} WHERE ${filter} i.id < ? ORDER BY i.id DESC LIMIT ?`, query.before, query.limit)
    .map(itemFromSql)
}

export function countOpenItems(db: Db): number {
  return db.get<{ n: number }>("SELECT count(*) AS n FROM inbox_items WHERE state <> 'answered'")?.n ?? 0
}

/** False if the item is not in one of these states any more. */
export function moveItem(tx: Tx, id: number, from: readonly ItemState[], to: ItemState): boolean {
  const { changes } = tx.run(
    `UPDATE inbox_items SET state = ?, concluded = 0 WHERE id = ? AND state IN (${from.map(() => '?').join(', ')})`,
    to,
    id,
    ...from,
  )
  return changes > 0
}

/** From here on the operator speaks for this item. */
export function giveToOperator(tx: Tx, id: number): void {
  tx.run('UPDATE inbox_items SET operator = 1 WHERE id = ?', id)
}

/** The operator or a forwarder has nothing more to do for this task, except to say how a running forward ended. */
export function closeItems(tx: Tx, task: number): void {
  tx.run(
    "UPDATE inbox_items SET state = 'answered' WHERE task = ? AND state IN ('queued', 'waiting', 'awaiting_admission')",
    task,
  )
}

export function concludeForward(tx: Tx, task: number): void {
  tx.run("UPDATE inbox_items SET concluded = 1 WHERE task = ? AND state = 'forwarding'", task)
}

/** The item as the doors show it. */
export function itemView({ id, key, peer, seq, receivedAt, state, trusted }: ItemRow): InboxItem {
  return { id, key, peer, seq, receivedAt, state, trusted }
}

function itemFromSql(row: SqlRow): ItemRow {
  return {
    id: row.id,
    key: { requester: row.requester, id: row.key },
    peer: row.peer,
    seq: row.seq,
    receivedAt: row.received_at,
    state: row.state,
    trusted: row.trusted === 1,
    task: row.task,
    forwarder: row.forwarder === 1,
    concluded: row.concluded === 1,
    operator: row.operator === 1,
  }
}
