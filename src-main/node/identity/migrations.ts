import type { Migration } from '../store/index.ts'

/** Tables of the identity floor. Statements are kept as the bytes that were signed. */
export const identityMigrations: readonly Migration[] = [
  {
    id: 'identity-1',
    sql: `
      -- last seq of a series of own statements, so that a restored or set-back clock causes no rollback
      CREATE TABLE own_series (name TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;

      CREATE TABLE peer_agents (
        aid TEXT PRIMARY KEY,
        -- another random number with each change: tells whether a verified copy in memory is still the row
        revision INTEGER NOT NULL,
        history BLOB NOT NULL,
        keyset BLOB,
        -- the newest network card or its withdrawal
        card BLOB,
        forked INTEGER NOT NULL DEFAULT 0,
        first_seen INTEGER NOT NULL,
        updated_at INTEGER NOT NULL
      ) STRICT;

      CREATE TABLE peer_forks (
        aid TEXT NOT NULL,
        kind TEXT NOT NULL,
        seq INTEGER NOT NULL,
        known BLOB NOT NULL,
        other BLOB NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (aid, kind, seq)
      ) STRICT, WITHOUT ROWID;
    `,
  },
]
