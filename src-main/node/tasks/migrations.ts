import type { Migration } from '../store/index.ts'

/**
 * Tables of the task floor. Times are milliseconds since 1970. Ids, AIDs, states, reasons and times are in the clear
 * for queries; `sealed` and `content` hold what people wrote (spec/architecture.md, Data directory).
 *
 * Lists stay fast however many tasks there are: every filter is an equality on the leading columns of one of three
 * indices that end in the time of the newest status, and totals come from `task_counts`, where the peer '' stands for
 * all peers.
 */
export const tasksMigrations: readonly Migration[] = [
  {
    id: 'tasks-1',
    sql: `
CREATE TABLE tasks (
  id INTEGER PRIMARY KEY,
  task TEXT NOT NULL,
  requester TEXT NOT NULL,
  direction TEXT NOT NULL CHECK (direction IN ('out', 'in')),
  peer TEXT NOT NULL,
  context TEXT NOT NULL,
  state TEXT NOT NULL,
  state_seq INTEGER NOT NULL,
  reason TEXT,
  effect TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  status_at INTEGER NOT NULL,
  cancel_requested INTEGER NOT NULL DEFAULT 0,
  accepted INTEGER NOT NULL DEFAULT 0,
  sealed BLOB NOT NULL,
  UNIQUE (task, requester)
) STRICT;
CREATE INDEX tasks_by_state ON tasks (direction, state, status_at);
CREATE INDEX tasks_by_peer ON tasks (peer, direction, state, status_at);
CREATE INDEX tasks_by_context ON tasks (context, direction, state, status_at);
CREATE INDEX tasks_canceling ON tasks (id) WHERE cancel_requested = 1 AND direction = 'in'
  AND state IN ('SUBMITTED', 'WORKING', 'INPUT_REQUIRED', 'AUTH_REQUIRED');

CREATE TABLE task_entries (
  task INTEGER NOT NULL REFERENCES tasks (id),
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  state TEXT,
  reason TEXT,
  effect TEXT,
  content BLOB,
  PRIMARY KEY (task, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE task_messages (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES tasks (id),
  agent TEXT NOT NULL,
  context TEXT NOT NULL,
  with_context INTEGER NOT NULL,
  message TEXT NOT NULL,
  digest BLOB NOT NULL,
  ended_at INTEGER
) STRICT;
CREATE INDEX task_messages_known ON task_messages (message, agent);
CREATE INDEX task_messages_task ON task_messages (task);
CREATE INDEX task_messages_ended ON task_messages (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE task_counts (
  peer TEXT NOT NULL,
  direction TEXT NOT NULL,
  state TEXT NOT NULL,
  tasks INTEGER NOT NULL,
  PRIMARY KEY (peer, direction, state)
) STRICT, WITHOUT ROWID;

CREATE TABLE task_refused (
  requester TEXT NOT NULL,
  task TEXT NOT NULL,
  at INTEGER NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (requester, task)
) STRICT, WITHOUT ROWID;

CREATE TABLE task_listed (
  peer TEXT PRIMARY KEY,
  listed INTEGER NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE inbox_items (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  task INTEGER NOT NULL REFERENCES tasks (id),
  seq INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  state TEXT NOT NULL,
  trusted INTEGER NOT NULL,
  forwarder INTEGER NOT NULL,
  concluded INTEGER NOT NULL DEFAULT 0,
  operator INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX inbox_items_task ON inbox_items (task);
CREATE INDEX inbox_items_open ON inbox_items (id) WHERE state <> 'answered';
`,
  },
]
