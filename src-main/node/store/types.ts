import type { AnetError } from '@shared/errors.ts'
import type { Cid } from '@shared/wire/index.ts'
import type { Db, SqlDatabase, Tx } from '@shared/sql/index.ts'

export type { Db, Migration, SqlValue, Tx } from '@shared/sql/index.ts'

/** Where a sealed value lives: bound into the seal, so that no value can be moved to another place. */
export interface Place {
  readonly table: string
  readonly id: string
  readonly column: string
}

/** A sealed, content-addressed file. The reference is itself content: it holds the file's key. */
export interface FileRef {
  /** SHA-256 of the ciphertext, hex: the name of the file. */
  readonly name: string
  /** Key of this file, base64url. */
  readonly key: string
  /** Plaintext bytes. */
  readonly size: number
  /** SHA-256 of the plaintext, hex. */
  readonly sha256: string
}

/** Seals what people wrote (AES-256-GCM, key from the secret store). A seal that does not open is `database_damaged`. */
export interface Content {
  /** For rows: at most {@link inlineLimit} bytes, longer is `content_too_large`. */
  seal(place: Place, plaintext: Uint8Array): Uint8Array
  open(place: Place, sealed: Uint8Array): Uint8Array
  /** JSON forms of the two. */
  sealJson(place: Place, value: unknown): Uint8Array
  openJson<T>(place: Place, sealed: Uint8Array): T
  /**
   * Writes a sealed file, durably, before the row that refers to it. The transaction of that row calls
   * {@link keepFile}: a file that nothing keeps goes at the next start. Errors: `content_too_large`, `disk_full`.
   */
  putFile(plaintext: Uint8Array): Promise<FileRef>
  /** One more row refers to this file. In the transaction that writes the row. */
  keepFile(tx: Tx, ref: FileRef): void
  /** One row less refers to this file; with the last the file goes, after the commit. Undoes one {@link keepFile}. */
  forgetFile(tx: Tx, name: string): void
  /**
   * Missing, cut or altered files are `database_damaged`. One that no row refers to any more is `content_gone`: whoever
   * holds a reference that he read earlier may come too late, and nothing is damaged.
   */
  getFile(ref: FileRef): Promise<Uint8Array>
  /** {@link forgetFile} in a transaction of its own. A file that nothing keeps is simply removed. */
  deleteFile(name: string): Promise<void>
}

/** Content above this many bytes lies in files, never in rows (spec/architecture.md, Data directory). */
export const inlineLimit = 256 * 1024

/** A record of what happened: ids, CIDs and sizes, never content. */
export interface EvidenceRecord {
  readonly seq: number
  /** Milliseconds since 1970. */
  readonly at: number
  /** `task.opened`, `task.accepted`, `task.refused`, `anet.backend.forwarded`, … */
  readonly kind: string
  readonly data: Readonly<Record<string, string | number | boolean | null>>
  readonly cid: Cid
}

/** Append-only, hash-linked (spec/network.md, Receipts and evidence). */
export interface Evidence {
  /** In the transaction of the event itself. `task` (requester/id) makes the record findable by task. */
  append(tx: Tx, kind: string, data: EvidenceRecord['data'], task?: { requester: string; id: string }): Cid
  /** CID of the newest record, null while the chain is empty. */
  head(): Cid | null
  ofTask(task: { requester: string; id: string }): readonly EvidenceRecord[]
  /** Walks the whole chain. The first break is named by its seq. */
  verify(): {
    readonly ok: boolean
    readonly records: number
    readonly head: Cid | null
    readonly brokenAt: number | null
  }
}

export interface Store extends SqlDatabase {
  readonly content: Content
  readonly evidence: Evidence
  readonly read: Db
  /** `database_damaged` once something stored turned out to be damaged: nothing may be signed or written any more. */
  readonly damage: AnetError | undefined
  /**
   * Milliseconds since 1970, never less than any value before, restarts included: for replay windows. After a crash
   * it may fall back by a second.
   */
  monotonicNow(tx: Tx): number
}
