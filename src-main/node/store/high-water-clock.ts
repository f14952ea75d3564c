import type { Migration, Tx } from '@shared/sql/index.ts'
import type { Clock } from '../ports.ts'

export const clockMigration: Migration = {
  id: 'store-3-clock',
  sql: `CREATE TABLE store_clock (one INTEGER PRIMARY KEY CHECK (one = 1), high_water INTEGER NOT NULL) STRICT`,
}

/** How far the persisted time may lie behind the one that was given out: saves a write in most transactions. */
const precisionMs = 1000

/**
 * A clock for replay windows: it never goes back, whatever happens to the system's, also over a restart (there to
 * within {@link precisionMs} after a crash).
 */
export function createHighWaterClock(clock: Clock): (tx: Tx) => number {
  let highWater: number | undefined
  let persisted = 0
  return (tx) => {
    if (highWater === undefined) {
      persisted = tx.get<{ high_water: number }>('SELECT high_water FROM store_clock')?.high_water ?? 0
      highWater = persisted
    }
    const now = Math.max(Math.floor(clock.now()), highWater)
    highWater = now
    if (now >= persisted + precisionMs) {
      tx.run(
        `INSERT INTO store_clock (one, high_water) VALUES (1, ?)
         ON CONFLICT (one) DO UPDATE SET high_water = max(high_water, excluded.high_water)`,
        now,
      )
      tx.afterCommit(() => {
        persisted = Math.max(persisted, now)
      })
    }
    return now
  }
}
