import { AnetError, isAnetError } from '@shared/errors.ts'
import type { Migration, SqlDatabase, Tx } from '@shared/sql/index.ts'
import type { ContentFiles } from './content-files.ts'
import { deriveKey, seal, unseal } from './seal.ts'
import { type Content, type FileRef, inlineLimit, type Place } from './types.ts'

/** Files that rows refer to, written in the transactions of those rows. What is not here goes at the next start. */
export const contentMigration: Migration = {
  id: 'store-1-content-files',
  sql: `CREATE TABLE content_files (name TEXT PRIMARY KEY, size INTEGER NOT NULL, refs INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
}

export interface ContentOptions {
  readonly database: SqlDatabase
  readonly files: ContentFiles
  readonly wrappingKey: Uint8Array
  /** Told of every seal that does not open. */
  readonly onDamage: (error: AnetError) => void
}

export function createContent({ database, files, wrappingKey, onDamage }: ContentOptions): Content {
  const key = deriveKey(wrappingKey, 'anet/content/1')
  const encoder = new TextEncoder()
  const decoder = new TextDecoder('utf-8', { fatal: true })

  const reported = (error: unknown): unknown => {
    if (isAnetError(error, 'database_damaged')) onDamage(error)
    return error
  }
  const sealAt = (place: Place, plaintext: Uint8Array): Uint8Array => {
    if (plaintext.byteLength > inlineLimit) {
      throw new AnetError('content_too_large', `${plaintext.byteLength} bytes are too many for a row.`)
    }
    return seal(key, bindingOf(place), plaintext)
  }
  const openAt = (place: Place, sealed: Uint8Array): Uint8Array => {
    try {
      return unseal(key, bindingOf(place), sealed)
    } catch (error) {
      throw reported(error)
    }
  }
  const isKept = (name: string): boolean =>
    database.read.get('SELECT 1 FROM content_files WHERE name = ?', name) !== undefined
  /** True if nothing refers to the file any more. */
  const dropReference = (tx: Tx, name: string): boolean => {
    tx.run('DELETE FROM content_files WHERE name = ? AND refs <= 1', name)
    return tx.run('UPDATE content_files SET refs = refs - 1 WHERE name = ?', name).changes === 0
  }

  return {
    seal: sealAt,
    open: openAt,
    sealJson: (place, value) => sealAt(place, encoder.encode(JSON.stringify(value))),
    openJson: <T>(place: Place, sealed: Uint8Array) => JSON.parse(decoder.decode(openAt(place, sealed))) as T,
    putFile: (plaintext) => files.put(plaintext),
    keepFile: (tx: Tx, ref: FileRef) => {
      tx.run(
        `INSERT INTO content_files (name, size, refs) VALUES (?, ?, 1)
         ON CONFLICT (name) DO UPDATE SET refs = refs + 1`,
        ref.name,
        ref.size,
      )
    },
    forgetFile: (tx, name) => {
      // a file that stays because of a crash here, or because it cannot be removed now, goes at the next start
      if (dropReference(tx, name)) tx.afterCommit(() => void files.remove(name).catch(() => undefined))
    },
    getFile: async (ref) => {
      try {
        return await files.get(ref)
      } catch (error) {
        if (isMissing(error) && !isKept(ref.name)) {
          throw new AnetError('content_gone', 'This content was removed.', { cause: error })
        }
        throw reported(error)
      }
    },
    deleteFile: async (name) => {
      if (await database.write((tx) => dropReference(tx, name))) await files.remove(name)
    },
  }
}

/** Lengths make it unambiguous: no two places have one binding. */
function bindingOf({ table, id, column }: Place): string {
  return `${table.length}:${table} ${column.length}:${column} ${id}`
}

function isMissing(error: unknown): boolean {
  const cause = isAnetError(error, 'database_damaged') ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
}
