import { AnetError } from '@shared/errors.ts'
import { Topic, type Unsubscribe } from '../../ports.ts'
import type { Db, Tx } from '../../store/index.ts'
import type { TaskRow } from './rows.ts'
import type { InboxItem, ProviderSide, StoredMessage } from '../types.ts'

type Router = Parameters<ProviderSide['setRouter']>[0]

interface ItemRow {
  readonly id: number
  readonly seq: number
  readonly state: InboxItem['state']
  readonly trusted: number
  readonly received_at: number
  readonly requester: string
  readonly task: string
  readonly peer: string
}

const selectItem = `SELECT i.id, i.seq, i.state, i.trusted, i.received_at, t.requester, t.task, t.peer
  FROM inbox_items i JOIN task_tasks t ON t.row = i.task`

/** States in which the operator has something to do or to know. */
const openStates = "('waiting', 'awaiting_admission', 'unverified')"
const openStatesList: readonly InboxItem['state'][] = ['waiting', 'awaiting_admission', 'unverified']

/** What peers asked for: one row for each accepted message, with who has it now. */
export class InboxTable {
  #router: Router = () => 'waiting'
  readonly #queued: Topic<InboxItem>
  readonly #changes: Topic<void>

  constructor(onError: (error: unknown) => void) {
    this.#queued = new Topic(onError)
    this.#changes = new Topic(onError)
  }

  setRouter(router: Router): void {
    this.#router = router
  }

  onQueued(listener: (item: InboxItem) => void): Unsubscribe {
    return this.#queued.subscribe(listener)
  }

  onChange(listener: () => void): Unsubscribe {
    return this.#changes.subscribe(listener)
  }

  /** Adds a message that was accepted; the router decides whose it is. */
  add(
    tx: Tx,
    task: TaskRow,
    arrival: { message: StoredMessage; trusted: boolean; firstOfTask: boolean; admission: boolean; now: number },
  ): void {
    const { message, trusted, firstOfTask, admission, now } = arrival
    const state = admission ? 'awaiting_admission' : this.#router({ peer: task.peer, trusted, message, firstOfTask })
    const { lastInsertRowid } = tx.run(
      'INSERT INTO inbox_items (task, seq, state, trusted, received_at) VALUES (?, ?, ?, ?, ?)',
      task.row,
      task.state_seq,
      state,
      trusted ? 1 : 0,
      now,
    )
    const item = this.get(tx, lastInsertRowid)
    tx.afterCommit(() => {
      if (item !== undefined && state === 'queued') this.#queued.publish(item)
      this.#changes.publish()
    })
  }

  get(db: Db, id: number): InboxItem | undefined {
    const row = db.get<ItemRow>(`${selectItem} WHERE i.id = ?`, id)
    return row === undefined ? undefined : itemOf(row)
  }

  inState(db: Db, state: InboxItem['state']): InboxItem[] {
    return db.all<ItemRow>(`${selectItem} WHERE i.state = ? ORDER BY i.id`, state).map(itemOf)
  }

  /** Moves an item on; false if it was not in one of the states expected. */
  move(tx: Tx, id: number, from: readonly InboxItem['state'][], to: InboxItem['state']): boolean {
    const places = from.map(() => '?').join(', ')
    const { changes } = tx.run(
      `UPDATE inbox_items SET state = ? WHERE id = ? AND state IN (${places})`,
      to,
      id,
      ...from,
    )
    if (changes > 0) tx.afterCommit(() => this.#changes.publish())
    return changes > 0
  }

  /** True if a backend has, or may have, a message of this task. */
  isForwarded(db: Db, task: number): boolean {
    return db.get('SELECT 1 FROM inbox_items WHERE task = ? AND state = ? LIMIT 1', task, 'forwarding') !== undefined
  }

  closeAll(tx: Tx, task: number): void {
    const { changes } = tx.run(`UPDATE inbox_items SET state = 'answered' WHERE task = ? AND state <> 'answered'`, task)
    if (changes > 0) tx.afterCommit(() => this.#changes.publish())
  }

  list(
    db: Db,
    query: { state?: 'open' | 'all'; cursor?: string; limit: number },
  ): { items: InboxItem[]; nextCursor: string; open: number } {
    const where = query.state === 'all' ? '' : `AND i.state IN ${openStates}`
    const before = query.cursor === undefined || query.cursor === '' ? Number.MAX_SAFE_INTEGER : cursorOf(query.cursor)
    const rows = db.all<ItemRow>(
      `${selectItem} WHERE i.id < ? ${where} ORDER BY i.id DESC LIMIT ?`,
      before,
      query.limit + 1,
    )
    const items = rows.slice(0, query.limit).map(itemOf)
    const more = rows.length > query.limit
    return { items, nextCursor: more ? String(items.at(-1)?.id ?? '') : '', open: this.countOpen(db) }
  }

  countOpen(db: Db): number {
    return openStatesList.reduce(
      (sum, state) =>
        sum + (db.get<{ n: number }>('SELECT count(*) AS n FROM inbox_items WHERE state = ?', state)?.n ?? 0),
      0,
    )
  }
}

function cursorOf(cursor: string): number {
  const id = Number(cursor)
  if (!Number.isSafeInteger(id) || id < 0) throw new AnetError('cursor_invalid', 'This cursor is not one of this list.')
  return id
}

function itemOf(row: ItemRow): InboxItem {
  return {
    id: row.id,
    key: { requester: row.requester, id: row.task },
    peer: row.peer,
    seq: row.seq,
    receivedAt: row.received_at,
    state: row.state,
    trusted: row.trusted !== 0,
  }
}
