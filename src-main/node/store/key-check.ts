import { AnetError } from '@shared/errors.ts'
import type { Migration, SqliteHandle } from '@shared/sql/index.ts'
import { deriveKey, seal, unseal } from './seal.ts'

export const keyCheckMigration: Migration = {
  id: 'store-4-key-check',
  sql: `CREATE TABLE store_key_check (one INTEGER PRIMARY KEY CHECK (one = 1), sealed BLOB NOT NULL) STRICT`,
}

/**
 * Tells a wrong wrapping key from damage: the first key a database is opened with seals a known value. Another key is
 * `database_key_mismatch`, before anything is read or written with it.
 */
export function checkKey(handle: SqliteHandle, wrappingKey: Uint8Array): void {
  const key = deriveKey(wrappingKey, 'anet/key-check/1')
  const row = handle.prepare('SELECT sealed FROM store_key_check').get() as { sealed: Uint8Array } | undefined
  if (row === undefined) {
    handle
      .prepare('INSERT INTO store_key_check (one, sealed) VALUES (1, ?)')
      .run(seal(key, 'key check', new Uint8Array(0)))
    return
  }
  try {
    unseal(key, 'key check', row.sealed)
  } catch (cause) {
    throw new AnetError(
      'database_key_mismatch',
      'The secret store holds another key than the one node.db is sealed with.',
      {
        remedy: 'Put back the secret store this data directory was made with. Nothing was changed.',
        cause,
      },
    )
  }
}
