import { AnetError } from '@shared/errors.ts'

/** Names an error of the file system after what the operator can do about it: `disk_full`, `data_dir_read_only`, `data_dir_missing`. */
export function fileError(error: unknown, path: string): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new AnetError('disk_full', `The disk is full: ${path} could not be written.`, {
        remedy: 'Free some space on the disk of the data directory.',
        cause: error,
      })
    case 'EROFS':
    case 'EACCES':
    case 'EPERM':
      return new AnetError('data_dir_read_only', `${path} may not be written.`, {
        remedy:
          'Make the data directory and the files in it writable for their owner, or choose another with ANET_DATA_DIR.',
        cause: error,
      })
    case 'ENOENT':
    case 'ENOTDIR':
      return new AnetError('data_dir_missing', `${path} cannot be made there.`, {
        remedy: 'Make the directory it lies in, or choose another with ANET_DATA_DIR.',
        cause: error,
      })
    default:
      return error
  }
}

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
