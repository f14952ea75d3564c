import { decodeCbor, encodeCbor } from '@shared/wire/index.ts'
import type { z } from 'zod'
import type { Db, Tx } from '../store/index.ts'

const maxBytes = 1024 * 1024

/** Reads one small value of the network floor; undefined if it was never written. */
export function readMeta<S extends z.ZodType>(db: Db, key: string, schema: S): z.infer<S> | undefined {
  const row = db.get<{ value: Uint8Array }>('SELECT value FROM net_meta WHERE key = ?', key)
  return row === undefined ? undefined : schema.parse(decodeCbor(row.value, maxBytes))
}

export function writeMeta(tx: Tx, key: string, value: unknown): void {
  tx.run(
    'INSERT INTO net_meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
    key,
    encodeCbor(value),
  )
}
