import { encodeCbor, decodeCbor, cidOf, type Cid } from '@shared/wire/index.ts'
import type { Db, Migration, Tx } from '@shared/sql/index.ts'
import { crypto } from '../crypto.ts'
import type { Clock } from '../ports.ts'
import type { Evidence, EvidenceRecord } from './types.ts'

export const evidenceMigration: Migration = {
  id: 'store-2-evidence',
  sql: `
    CREATE TABLE evidence (
      seq INTEGER PRIMARY KEY,
      cid TEXT NOT NULL,
      record BLOB NOT NULL,
      requester TEXT,
      task TEXT
    ) STRICT;
    CREATE INDEX evidence_by_task ON evidence (requester, task) WHERE task IS NOT NULL;
    CREATE TRIGGER evidence_is_not_changed BEFORE UPDATE ON evidence
      BEGIN SELECT RAISE(ABORT, 'evidence is append-only'); END;
    CREATE TRIGGER evidence_is_not_deleted BEFORE DELETE ON evidence
      BEGIN SELECT RAISE(ABORT, 'evidence is append-only'); END;
  `,
}

/** Ids, CIDs and sizes only: a record is small. */
const maxRecordBytes = 64 * 1024
const verifyStep = 1000

interface Head {
  readonly seq: number
  readonly cid: Cid
}

interface Row extends Head {
  readonly record: Uint8Array
  readonly requester: string | null
  readonly task: string | null
}

/** One record as it is hashed: DAG-CBOR of this, in which `prev` is the CID of the record before, null in the first. */
interface Block {
  readonly seq: number
  readonly prev: Cid | null
  readonly at: number
  readonly kind: string
  readonly task: readonly [requester: string, id: string] | null
  readonly data: EvidenceRecord['data']
}

const selectHead = 'SELECT seq, cid FROM evidence ORDER BY seq DESC LIMIT 1'

export function createEvidence(read: Db, clock: Clock): Evidence {
  // The head is remembered for one transaction only: the next one reads it again, and so sees what a rollback undid.
  let lastTx: Tx | undefined
  let lastHead: Head | undefined

  return {
    append: (tx, kind, data, task) => {
      const before = lastTx === tx ? lastHead : tx.get<Head>(selectHead)
      const seq = (before?.seq ?? 0) + 1
      const prev = before?.cid ?? null
      const block: Block = { seq, prev, at: clock.now(), kind, task: task ? [task.requester, task.id] : null, data }
      const record = encodeCbor(block)
      if (record.byteLength > maxRecordBytes) throw new RangeError('A record of the evidence chain is too large.')
      const cid = cidOf(crypto, record)
      tx.run(
        'INSERT INTO evidence (seq, cid, record, requester, task) VALUES (?, ?, ?, ?, ?)',
        seq,
        cid,
        record,
        task?.requester ?? null,
        task?.id ?? null,
      )
      lastTx = tx
      lastHead = { seq, cid }
      return cid
    },
    head: () => read.get<Head>(selectHead)?.cid ?? null,
    ofTask: ({ requester, id }) =>
      read
        .all<Row>('SELECT * FROM evidence WHERE requester = ? AND task = ? ORDER BY seq', requester, id)
        .map(({ cid, record }) => {
          const { seq, at, kind, data } = decodeCbor(record, maxRecordBytes) as Block
          return { seq, at, kind, data, cid }
        }),
    verify: () => {
      let records = 0
      let head: Cid | null = null
      for (;;) {
        const rows = read.all<Row>('SELECT * FROM evidence WHERE seq > ? ORDER BY seq LIMIT ?', records, verifyStep)
        for (const row of rows) {
          if (!follows(row, records, head)) return { ok: false, records, head, brokenAt: records + 1 }
          records = row.seq
          head = row.cid
        }
        if (rows.length < verifyStep) return { ok: true, records, head, brokenAt: null }
      }
    },
  }
}

/** Whether this row is the next record of the chain, unaltered. */
function follows(row: Row, seq: number, prev: Cid | null): boolean {
  if (row.seq !== seq + 1 || cidOf(crypto, row.record) !== row.cid) return false
  try {
    const block = decodeCbor(row.record, maxRecordBytes) as Block
    const [requester, task] = block.task ?? [null, null]
    return block.seq === row.seq && block.prev === prev && requester === row.requester && task === row.task
  } catch {
    return false
  }
}
