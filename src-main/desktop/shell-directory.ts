import { mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { privateDirectory } from '../node/data-dir/index.ts'

/**
 * Where Chromium and the window keep what is theirs: in the data directory, which is made if need be. If that cannot be
 * used, a temporary one: the window must come up to say why.
 */
export async function shellDirectory(dataDir: string): Promise<string> {
  try {
    await privateDirectory(dataDir)
    const own = join(dataDir, 'desktop')
    await mkdir(own, { recursive: true, mode: 0o700 })
    return own
  } catch {
    return mkdtemp(join(tmpdir(), 'anet-desktop-'))
  }
}
