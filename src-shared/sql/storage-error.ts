import { AnetError } from '../errors.ts'

// Primary result codes of SQLite (sqlite.org/rescode.html); extended codes carry them in their low byte.
const busy = 5
const readOnly = 8
const ioError = 10
const corrupt = 11
const full = 13
const cannotOpen = 14
const notADatabase = 26

const damagedRemedy = 'Nothing was overwritten. Keep a copy of the data directory, then put back its newest backup.'

/** The state in which a database is not trusted any more: nothing is signed, nothing is overwritten. */
export function databaseDamaged(what: string, cause?: unknown): AnetError {
  return new AnetError('database_damaged', what, { remedy: damagedRemedy, cause })
}

/**
 * Names an error of SQLite after what the operator can do about it: `disk_full`, `database_read_only`,
 * `database_damaged`, `database_busy`, `database_io_error`, `database_cannot_open`. Any other error (a constraint, an
 * error of the caller) comes back as it is.
 */
export function storageError(error: unknown): unknown {
  switch (primaryCode(error)) {
    case full:
      return new AnetError('disk_full', 'The disk is full: nothing more can be stored.', {
        remedy: 'Free some space on the disk of the data directory. ANet goes on by itself.',
        cause: error,
      })
    case readOnly:
      return new AnetError('database_read_only', 'The database may not be written.', {
        remedy: 'Make the data directory and the files in it writable for their owner.',
        cause: error,
      })
    case corrupt:
    case notADatabase:
      return databaseDamaged('The database file is damaged.', error)
    case busy:
      return new AnetError('database_busy', 'Another process holds the database.', {
        remedy: 'End the other program that has the database file open.',
        cause: error,
      })
    case ioError:
      return new AnetError('database_io_error', 'The disk did not read or write the database.', {
        remedy: 'Check the disk of the data directory: the system log says more.',
        cause: error,
      })
    case cannotOpen:
      return new AnetError('database_cannot_open', 'The database file cannot be opened.', {
        remedy: 'Check that the data directory exists and that its owner may read and write it.',
        cause: error,
      })
    default:
      return error
  }
}

/** SQLite's own texts for these codes (sqlite3_errstr): an error of preparing a statement may come without its code. */
const codesByText = new Map([
  ['database is locked', busy],
  ['attempt to write a readonly database', readOnly],
  ['disk I/O error', ioError],
  ['database disk image is malformed', corrupt],
  ['database or disk is full', full],
  ['unable to open database file', cannotOpen],
  ['file is not a database', notADatabase],
])

function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode & 0xff
  return 'code' in error && error.code === 'ERR_SQLITE_ERROR' ? codesByText.get(error.message) : undefined
}
