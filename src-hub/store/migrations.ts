import type { Migration } from '@shared/sql/index.ts'

export const hubMigrations: readonly Migration[] = [
  {
    id: 'hub-001-members',
    sql: `
      CREATE TABLE hub_members (
        id INTEGER PRIMARY KEY,
        aid TEXT NOT NULL UNIQUE,
        state TEXT NOT NULL,
        ksn INTEGER NOT NULL,
        key BLOB,
        seen INTEGER NOT NULL,
        seen_before INTEGER,
        -- end of validity of the card that is listed, null for an agent without one
        listed_until INTEGER,
        joined_at INTEGER NOT NULL,
        version INTEGER NOT NULL
      );
      CREATE INDEX hub_members_listing ON hub_members (seen DESC, aid, listed_until);
      CREATE INDEX hub_members_state ON hub_members (state, aid);
      -- apart from hub_members: a note of presence must not rewrite a card of 256 KiB
      CREATE TABLE hub_statements (
        member INTEGER PRIMARY KEY,
        history BLOB NOT NULL,
        keyset_seq INTEGER NOT NULL,
        keyset BLOB NOT NULL,
        card_kind TEXT,
        card_seq INTEGER,
        card_exp INTEGER,
        card_ksn INTEGER,
        card BLOB
      );
      CREATE TABLE hub_terms (
        kind TEXT NOT NULL,
        term TEXT NOT NULL,
        member INTEGER NOT NULL,
        PRIMARY KEY (kind, term, member)
      ) WITHOUT ROWID;
      CREATE INDEX hub_terms_member ON hub_terms (member);
      CREATE VIRTUAL TABLE hub_text USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3');
      CREATE TABLE hub_forks (
        id INTEGER PRIMARY KEY,
        aid TEXT NOT NULL,
        kind TEXT NOT NULL,
        seq INTEGER NOT NULL,
        at INTEGER NOT NULL,
        known BLOB NOT NULL,
        other BLOB NOT NULL,
        UNIQUE (aid, kind, seq, other)
      );
      CREATE TABLE hub_invites (hash TEXT PRIMARY KEY, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL) WITHOUT ROWID;
    `,
  },
  {
    id: 'hub-002-mail',
    sql: `
      CREATE TABLE hub_boxes (member INTEGER PRIMARY KEY, messages INTEGER NOT NULL, bytes INTEGER NOT NULL);
      -- AUTOINCREMENT: an acknowledgement that comes late must never meet a newer message under its id
      CREATE TABLE hub_mail (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        member INTEGER NOT NULL,
        at INTEGER NOT NULL,
        size INTEGER NOT NULL,
        blob TEXT,
        envelope BLOB
      );
      CREATE INDEX hub_mail_box ON hub_mail (member, id);
      CREATE INDEX hub_mail_at ON hub_mail (at);
      CREATE INDEX hub_mail_blob ON hub_mail (blob) WHERE blob IS NOT NULL;
      -- by time first: new ones come at the end, and old ones go as one range
      CREATE TABLE hub_nonces (time INTEGER NOT NULL, nonce BLOB NOT NULL, PRIMARY KEY (time, nonce)) WITHOUT ROWID;
      CREATE TABLE hub_settings (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
    `,
  },
]
