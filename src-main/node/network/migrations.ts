import type { Migration } from '../store/index.ts'

/** Tables of the network floor. Times are milliseconds since 1970, `n` and `ack` as in spec/network.md. */
export const networkMigrations: readonly Migration[] = [
  {
    id: 'network-1',
    sql: `
CREATE TABLE net_meta (
  key TEXT PRIMARY KEY,
  value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE net_channels (
  id INTEGER PRIMARY KEY,
  requester TEXT NOT NULL,
  task TEXT NOT NULL,
  peer TEXT NOT NULL,
  next_n INTEGER NOT NULL DEFAULT 0,
  acked INTEGER NOT NULL DEFAULT -1,
  acked_at INTEGER NOT NULL DEFAULT 0,
  received INTEGER NOT NULL DEFAULT -1,
  UNIQUE (requester, task)
) STRICT;

CREATE TABLE net_outbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  channel INTEGER NOT NULL REFERENCES net_channels (id),
  n INTEGER NOT NULL,
  type TEXT NOT NULL,
  mid BLOB NOT NULL,
  ts INTEGER NOT NULL,
  exp INTEGER NOT NULL,
  body BLOB,
  file TEXT,
  sends INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  asked INTEGER NOT NULL DEFAULT 0,
  sent_at INTEGER NOT NULL DEFAULT 0,
  due INTEGER NOT NULL,
  UNIQUE (channel, n)
) STRICT;
CREATE INDEX net_outbox_due ON net_outbox (due);
CREATE INDEX net_outbox_exp ON net_outbox (exp);

CREATE TABLE net_seen (
  peer TEXT NOT NULL,
  mid BLOB NOT NULL,
  digest BLOB NOT NULL,
  exp INTEGER NOT NULL,
  PRIMARY KEY (peer, mid)
) STRICT, WITHOUT ROWID;
CREATE INDEX net_seen_exp ON net_seen (exp);

CREATE TABLE net_held (
  channel INTEGER NOT NULL REFERENCES net_channels (id),
  n INTEGER NOT NULL,
  size INTEGER NOT NULL,
  exp INTEGER NOT NULL,
  message BLOB,
  file TEXT,
  PRIMARY KEY (channel, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE net_rejected (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  code TEXT NOT NULL,
  peer TEXT,
  mid TEXT,
  detail TEXT NOT NULL
) STRICT;

CREATE TABLE net_alarms (
  code TEXT NOT NULL,
  witness TEXT NOT NULL,
  head TEXT NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (code, witness)
) STRICT;

CREATE TABLE net_directory (
  id INTEGER PRIMARY KEY,
  aid TEXT NOT NULL UNIQUE,
  last_seen INTEGER NOT NULL,
  on_hub INTEGER NOT NULL,
  wrote INTEGER NOT NULL,
  digest BLOB,
  refresh INTEGER NOT NULL,
  terms TEXT NOT NULL
) STRICT;
CREATE INDEX net_directory_refresh ON net_directory (refresh);

CREATE TABLE net_directory_order (
  term TEXT NOT NULL,
  rank INTEGER NOT NULL,
  age INTEGER NOT NULL,
  aid TEXT NOT NULL,
  from_gen INTEGER NOT NULL,
  to_gen INTEGER NOT NULL
) STRICT;
CREATE INDEX net_directory_listing ON net_directory_order (term, rank, age, aid, from_gen, to_gen);
CREATE INDEX net_directory_current ON net_directory_order (aid, to_gen);
CREATE INDEX net_directory_past ON net_directory_order (to_gen);

CREATE VIRTUAL TABLE net_directory_text USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2');
`,
  },
]
