import { constants } from 'node:fs'
import { lstat, mkdir, open, readFile, rename, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AnetError } from '@shared/errors.ts'

/** Makes a directory that only its owner can enter (0700), or checks that an existing one is. */
export async function privateDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  const stat = await lstat(path)
  if (!stat.isDirectory()) throw new AnetError('hub_directory_unsafe', `${path} is not a directory.`)
  refuseForeign(path, stat.uid)
  if ((stat.mode & 0o077) !== 0) {
    throw new AnetError('hub_directory_unsafe', `Others can enter ${path}.`, { remedy: `Run: chmod 700 ${path}` })
  }
}

/** Reads a private file, or undefined if there is none. Links, foreign owners and more than `maxBytes` are refused. */
export async function readPrivate(path: string, maxBytes: number): Promise<Uint8Array | undefined> {
  const stat = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (stat === undefined) return undefined
  if (!stat.isFile()) throw new AnetError('hub_file_unsafe', `${path} is not a plain file.`)
  refuseForeign(path, stat.uid)
  if ((stat.mode & 0o077) !== 0) {
    throw new AnetError('hub_file_unsafe', `Others can read ${path}.`, { remedy: `Run: chmod 600 ${path}` })
  }
  if (stat.size > maxBytes) throw new AnetError('hub_file_unsafe', `${path} is larger than it can be.`)
  return readFile(path)
}

/** Writes a private file (0600) so that it is there whole, or not at all, after a crash. */
export async function writePrivate(path: string, content: Uint8Array | string): Promise<void> {
  const temporary = `${path}.${process.pid}.new`
  await unlink(temporary).catch(() => {})
  const file = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, path)
  await syncDirectory(dirname(path))
}

export async function removePrivate(directory: string, ...names: readonly string[]): Promise<void> {
  for (const name of names) await unlink(join(directory, name)).catch(() => {})
}

/** Makes the names in a directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, constants.O_RDONLY)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

function refuseForeign(path: string, uid: number): void {
  const own = process.getuid?.()
  if (own !== undefined && uid !== own) {
    throw new AnetError('hub_file_unsafe', `${path} belongs to another user.`)
  }
}
