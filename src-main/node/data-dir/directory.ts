import { type Stats } from 'node:fs'
import { access, chmod, constants, lstat, mkdir, readdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { AnetError } from '@shared/errors.ts'
import { fileError, hasCode } from './file-error.ts'

/** The data directory: the one named, else `ANET_DATA_DIR`, else `~/.anet`; absolute. */
export function dataDirectory(named?: string, env: NodeJS.ProcessEnv = process.env): string {
  return resolve(named || env['ANET_DATA_DIR'] || join(homedir(), '.anet'))
}

/**
 * Makes sure that a directory exists which only its owner can enter (0700), and that it can be written. One that is
 * still empty is closed to others; one in use that others can enter is refused, because they may have been there.
 * Errors, each with a remedy: `data_dir_symlink`, `data_dir_not_a_directory`, `data_dir_foreign_owner`,
 * `data_dir_open_to_others`, `data_dir_read_only`, `disk_full`.
 */
export async function privateDirectory(path: string): Promise<void> {
  try {
    await makeDirectory(path)
  } catch (error) {
    throw fileError(error, path)
  }
  const stat = await lstat(path)
  if (stat.isSymbolicLink()) {
    throw new AnetError('data_dir_symlink', `${path} is a symbolic link.`, {
      remedy: 'Name the directory it points to: ANET_DATA_DIR=<that directory>.',
    })
  }
  if (!stat.isDirectory()) {
    throw new AnetError('data_dir_not_a_directory', `${path} is not a directory.`, {
      remedy: 'Move it away, or choose another with ANET_DATA_DIR.',
    })
  }
  if (isForeign(stat)) {
    throw new AnetError('data_dir_foreign_owner', `${path} belongs to another user.`, {
      remedy: 'Choose another with ANET_DATA_DIR, or make yourself its owner.',
    })
  }
  if (isOpenTo(stat, 0o077)) await closeToOthers(path, stat)
  await access(path, constants.W_OK | constants.X_OK).catch((error: unknown) => {
    throw fileError(error, path)
  })
}

/** With its parents; what is there already stays. (mkdir's own recursion does not end where nothing can be made.) */
async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return
    const parent = dirname(path)
    if (!hasCode(error, 'ENOENT') || parent === path) throw error
    await makeDirectory(parent)
    await mkdir(path, { mode: 0o700 })
  }
}

async function closeToOthers(path: string, stat: Stats): Promise<void> {
  if ((await readdir(path)).length === 0) {
    await chmod(path, 0o700)
    return
  }
  throw new AnetError(
    'data_dir_open_to_others',
    `Others can enter ${path} (mode ${(stat.mode & 0o777).toString(8)}).`,
    { remedy: `Close it: chmod 700 '${path}'. If others could write there, look first at what they may have left.` },
  )
}

/** Whether somebody else owns it. Windows has no such owner: its user profiles are private by themselves. */
export function isForeign(stat: Stats): boolean {
  return process.getuid !== undefined && stat.uid !== process.getuid()
}

/** Whether others than the owner have one of these rights. */
export function isOpenTo(stat: Stats, rights: number): boolean {
  return process.platform !== 'win32' && (stat.mode & rights) !== 0
}
