import type { Migration } from '../../store/index.ts'

/**
 * Ids, states, times and sequence numbers are in the clear, so that lists need no key; what people wrote is sealed.
 * `summary` is a sealed JSON object ({@link SealedSummary}): title, newest status message, nonce.
 */
export const tasksMigrations: readonly Migration[] = [
  {
    id: 'tasks-001',
    sql: `
      CREATE TABLE task_tasks (
        row INTEGER PRIMARY KEY,
        direction TEXT NOT NULL CHECK (direction IN ('out', 'in')),
        requester TEXT NOT NULL,
        task TEXT NOT NULL,
        peer TEXT NOT NULL,
        context TEXT NOT NULL,
        state TEXT NOT NULL,
        open INTEGER NOT NULL,
        state_seq INTEGER NOT NULL,
        reason TEXT,
        effect TEXT,
        receipt TEXT NOT NULL DEFAULT 'unknown',
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        status_at INTEGER NOT NULL,
        cancel_requested INTEGER NOT NULL DEFAULT 0,
        title BLOB NOT NULL,
        nonce BLOB NOT NULL,
        UNIQUE (requester, task)
      ) STRICT;
      CREATE INDEX task_by_time ON task_tasks (status_at DESC, row DESC);
      CREATE INDEX task_by_direction ON task_tasks (direction, status_at DESC, row DESC);
      CREATE INDEX task_by_peer ON task_tasks (direction, peer, status_at DESC, row DESC);
      CREATE INDEX task_by_context ON task_tasks (peer, context, status_at DESC, row DESC);
      CREATE INDEX task_by_state ON task_tasks (state, status_at DESC, row DESC);
      CREATE INDEX task_open ON task_tasks (status_at DESC, row DESC) WHERE open = 1;
      CREATE TABLE task_entries (
        task INTEGER NOT NULL REFERENCES task_tasks (row),
        seq INTEGER NOT NULL,
        at INTEGER NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('message', 'status', 'artifact', 'cancel')),
        content BLOB NOT NULL,
        PRIMARY KEY (task, seq)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE task_counts (
        direction TEXT NOT NULL,
        peer TEXT NOT NULL,
        state TEXT NOT NULL,
        tasks INTEGER NOT NULL,
        PRIMARY KEY (direction, peer, state)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE task_sent (
        peer TEXT NOT NULL,
        context TEXT,
        message TEXT NOT NULL,
        digest BLOB NOT NULL,
        task INTEGER NOT NULL REFERENCES task_tasks (row),
        at INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX task_sent_key ON task_sent (peer, message, context);
      CREATE INDEX task_sent_task ON task_sent (task);
      CREATE TABLE task_refused (
        requester TEXT NOT NULL,
        task TEXT NOT NULL,
        reason TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (requester, task)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE inbox_items (
        id INTEGER PRIMARY KEY,
        task INTEGER NOT NULL REFERENCES task_tasks (row),
        seq INTEGER NOT NULL,
        state TEXT NOT NULL,
        trusted INTEGER NOT NULL,
        received_at INTEGER NOT NULL,
        UNIQUE (task, seq)
      ) STRICT;
      CREATE INDEX inbox_by_state ON inbox_items (state, id);
    `,
  },
]
