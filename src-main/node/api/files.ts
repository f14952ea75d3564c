import { randomUUID } from 'node:crypto'
import { constants, type FileHandle, lstat, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, extname, isAbsolute, join } from 'node:path'
import type { Part } from '@shared/a2a/index.ts'
import { AnetError, isAnetError } from '@shared/errors.ts'
import { limits } from '@shared/wire/index.ts'

const mediaTypes: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.css': 'text/css',
  '.gif': 'image/gif',
  '.gz': 'application/gzip',
  '.htm': 'text/html',
  '.html': 'text/html',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.mp3': 'audio/mpeg',
  '.mp4': 'video/mp4',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.tar': 'application/x-tar',
  '.txt': 'text/plain',
  '.wav': 'audio/wav',
  '.webp': 'image/webp',
  '.xml': 'application/xml',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.zip': 'application/zip',
}

const pieceBytes = 1024 * 1024

/**
 * Reads files that the operator named into parts: regular files only, by absolute path, at most 64 MiB each and 96 MiB
 * together (spec/network.md, Attachments). Errors: `path_not_absolute`, `file_not_readable`, `not_a_regular_file`,
 * `part_too_large`, `message_too_large`.
 */
export async function readFileParts(paths: readonly string[]): Promise<Part[]> {
  const parts: Part[] = []
  let total = 0
  for (const path of paths) {
    const bytes = await readRegularFile(path)
    total += bytes.byteLength
    if (total > limits.message.bytes) {
      throw new AnetError('message_too_large', `The files have more than ${limits.message.bytes} bytes together.`)
    }
    parts.push({
      raw: bytes.toString('base64'),
      filename: basename(path),
      mediaType: mediaTypes[extname(path).toLowerCase()] ?? 'application/octet-stream',
    })
  }
  return parts
}

/**
 * Writes bytes to a file that the operator named, whole or not at all. `overwrite` replaces a regular file and nothing
 * else: no link, pipe or device. Errors: `path_not_absolute`, `file_exists`, `not_a_regular_file`, `file_not_writable`.
 */
export async function writeNewFile(path: string, bytes: Uint8Array, overwrite: boolean): Promise<void> {
  requireAbsolute(path)
  if (overwrite) await requireReplaceable(path)
  const target = overwrite ? join(dirname(path), `.${basename(path)}.${randomUUID()}`) : path
  let created = false
  try {
    const file = await open(target, 'wx', 0o600)
    created = true
    try {
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    if (overwrite) await rename(target, path)
  } catch (cause) {
    if (created) await rm(target, { force: true })
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') {
      throw new AnetError('file_exists', `${path} exists already.`, { remedy: 'Choose another name.' })
    }
    throw new AnetError('file_not_writable', `${path} could not be written (${codeOf(cause)}).`, { cause })
  }
}

async function readRegularFile(path: string): Promise<Buffer> {
  requireAbsolute(path)
  // without O_NONBLOCK, opening a named pipe would wait for its writer
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((cause: unknown) => {
    throw new AnetError('file_not_readable', `${path} could not be read (${codeOf(cause)}).`, { cause })
  })
  try {
    const stat = await file.stat()
    if (!stat.isFile()) throw new AnetError('not_a_regular_file', `${path} is not a regular file.`)
    if (stat.size > limits.message.partBytes) throw tooLarge(path)
    return await readBounded(file, path)
  } catch (cause) {
    if (isAnetError(cause)) throw cause
    throw new AnetError('file_not_readable', `${path} could not be read (${codeOf(cause)}).`, { cause })
  } finally {
    await file.close()
  }
}

/** Reads to the end or to the limit: a file may grow while it is read, and those of /proc do not tell their size. */
async function readBounded(file: FileHandle, path: string): Promise<Buffer> {
  const pieces: Buffer[] = []
  let size = 0
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.allocUnsafe(pieceBytes) })
    if (bytesRead === 0) break
    size += bytesRead
    if (size > limits.message.partBytes) throw tooLarge(path)
    pieces.push(buffer.subarray(0, bytesRead))
  }
  return Buffer.concat(pieces, size)
}

async function requireReplaceable(path: string): Promise<void> {
  const there = await lstat(path).catch(() => undefined)
  if (there !== undefined && !there.isFile()) {
    throw new AnetError('not_a_regular_file', `${path} is not a regular file.`, { remedy: 'Choose another name.' })
  }
}

function requireAbsolute(path: string): void {
  if (!isAbsolute(path)) {
    throw new AnetError('path_not_absolute', `${path} is not an absolute path.`, {
      remedy: 'The node runs in another folder than you: name the whole path.',
    })
  }
}

function tooLarge(path: string): AnetError {
  return new AnetError('part_too_large', `${path} has more than ${limits.message.partBytes} bytes.`)
}

function codeOf(cause: unknown): string {
  return (cause as NodeJS.ErrnoException).code ?? 'unknown error'
}
