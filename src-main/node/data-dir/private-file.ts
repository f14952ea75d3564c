import { randomBytes } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { type FileHandle, link, lstat, open, rename, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { AnetError } from '@shared/errors.ts'
import { isForeign, isOpenTo } from './directory.ts'
import { fileError, hasCode } from './file-error.ts'

export interface ReadOptions {
  /** Larger files are `file_too_large`. */
  readonly maxBytes: number
  /** For files that hold no secret: others may read, never write. */
  readonly readableByOthers?: boolean
}

/**
 * Reads a file of the data directory. Undefined if there is none. Refused, each with a remedy: `file_symlink`,
 * `file_not_regular`, `file_foreign_owner`, `file_open_to_others`, `file_too_large`.
 */
export async function readPrivateFile(path: string, options: ReadOptions): Promise<Buffer | undefined> {
  const file = await openChecked(path, options.readableByOthers === true ? 0o022 : 0o077)
  if (file === undefined) return undefined
  try {
    return await readBounded(file, path, options.maxBytes)
  } finally {
    await file.close()
  }
}

/** Refuses a file as {@link readPrivateFile} does, for one that a library opens. False if there is none. */
export async function checkPrivateFile(path: string): Promise<boolean> {
  const file = await openChecked(path, 0o077)
  await file?.close()
  return file !== undefined
}

/**
 * Writes a file whole or not at all (0600): it replaces what was there, and is on the disk on return. A symlink in its
 * place is `file_symlink`; others: `disk_full`, `data_dir_read_only`.
 */
export async function writePrivateFile(path: string, content: string | Uint8Array): Promise<void> {
  await refuseSymlink(path)
  await publish(path, content, (written) => rename(written, path))
}

/**
 * Writes a new file whole (0600), on the disk on return. False if there is something of that name already: then
 * nothing was changed. Errors: `disk_full`, `data_dir_read_only`.
 */
export async function createPrivateFile(path: string, content: string | Uint8Array): Promise<boolean> {
  try {
    // a link, unlike a rename, never replaces
    await publish(path, content, async (written) => {
      await link(written, path)
      await unlink(written)
    })
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}

/** Removes a file; that it is gone is on the disk on return. Absent is fine. */
export async function removePrivateFile(path: string): Promise<void> {
  try {
    await unlink(path)
    await syncDirectory(dirname(path))
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw fileError(error, path)
  }
}

/** Makes the names in a directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  // Windows cannot open a directory, and its file systems keep names in their journal
  if (process.platform === 'win32') return
  const directory = await open(path, constants.O_RDONLY)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

async function publish(
  path: string,
  content: string | Uint8Array,
  place: (written: string) => Promise<void>,
): Promise<void> {
  const written = join(dirname(path), `.${basename(path)}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`)
  try {
    const file = await open(written, 'wx', 0o600)
    try {
      await file.writeFile(content)
      await file.sync()
    } finally {
      await file.close()
    }
    await place(written)
    await syncDirectory(dirname(path))
  } catch (error) {
    await unlink(written).catch(() => undefined)
    throw fileError(error, path)
  }
}

async function openChecked(path: string, refusedRights: number): Promise<FileHandle | undefined> {
  let file: FileHandle
  try {
    // NONBLOCK: opening a pipe that nobody writes to would wait for ever
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    if (hasCode(error, 'ELOOP')) throw symlinkRefused(path)
    if (hasCode(error, 'ENXIO')) throw notRegular(path)
    if (hasCode(error, 'EACCES', 'EPERM')) throw unreadable(path, error)
    throw error
  }
  try {
    checkFile(path, await file.stat(), refusedRights)
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

async function readBounded(file: FileHandle, path: string, maxBytes: number): Promise<Buffer> {
  const { size } = await file.stat()
  if (size > maxBytes) throw tooLarge(path, maxBytes)
  // one byte more than allowed: the file may grow while it is read
  const buffer = Buffer.alloc(maxBytes < size + 1 ? maxBytes + 1 : size + 1)
  let length = 0
  for (;;) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, length)
    length += bytesRead
    if (bytesRead === 0 || length === buffer.length) break
  }
  if (length > maxBytes) throw tooLarge(path, maxBytes)
  return buffer.subarray(0, length)
}

function checkFile(path: string, stat: Stats, refusedRights: number): void {
  if (!stat.isFile()) {
    throw notRegular(path)
  }
  if (isForeign(stat)) {
    throw new AnetError('file_foreign_owner', `${path} belongs to another user.`, {
      remedy: 'Make sure of its content, then make yourself its owner.',
    })
  }
  if (isOpenTo(stat, refusedRights)) {
    const mode = (stat.mode & 0o777).toString(8)
    throw new AnetError('file_open_to_others', `Others can use ${path} (mode ${mode}).`, {
      remedy: `Make sure of its content, then: chmod 600 '${path}'`,
    })
  }
}

async function refuseSymlink(path: string): Promise<void> {
  const stat = await lstat(path).catch(() => undefined)
  if (stat?.isSymbolicLink() === true) throw symlinkRefused(path)
}

function symlinkRefused(path: string): AnetError {
  return new AnetError('file_symlink', `${path} is a symbolic link.`, {
    remedy: 'Put the file itself there: links in the data directory are not followed.',
  })
}

function notRegular(path: string): AnetError {
  return new AnetError('file_not_regular', `${path} is not a regular file.`, { remedy: 'Move it away.' })
}

function unreadable(path: string, cause: unknown): AnetError {
  return new AnetError('file_unreadable', `${path} may not be read.`, {
    remedy: `Make it readable for its owner: chmod 600 '${path}'`,
    cause,
  })
}

function tooLarge(path: string, maxBytes: number): AnetError {
  return new AnetError('file_too_large', `${path} has more than ${maxBytes} bytes.`, {
    remedy: 'Make sure that it is the right file.',
  })
}
