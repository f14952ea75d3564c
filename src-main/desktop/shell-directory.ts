import { mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { privateDirectory } from '../node/data-dir/index.ts'

/**
 * Where Chromium and the window keep what is theirs: in the data directory, which is made if need be. If that cannot be
 * used, beside other temporary files: the window must come up to say why.
 */
export async function shellDirectory(dataDir: string): Promise<string> {
  try {
    await privateDirectory(dataDir)
    const own = join(dataDir, 'desktop')
    await mkdir(own, { recursive: true, mode: 0o700 })
    return own
  } catch {
    return temporaryDirectory()
  }
}

/** The same one each time: Chromium writes into it until the very end, so nobody could remove it then. */
async function temporaryDirectory(): Promise<string> {
  const usual = join(tmpdir(), `anet-desktop-${userInfo().uid}`)
  try {
    await privateDirectory(usual)
    return usual
  } catch {
    return mkdtemp(`${usual}-`)
  }
}
