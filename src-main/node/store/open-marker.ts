import { existsSync } from 'node:fs'
import { open, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'

/** A file that lies beside the database while it is open. At the next start it tells of an end that was not clean. */
export interface OpenMarker {
  readonly endedUncleanly: boolean
  /** After the database has been closed. */
  remove(): Promise<void>
}

export async function placeMarker(databasePath: string): Promise<OpenMarker> {
  const path = `${databasePath}-open`
  const endedUncleanly = existsSync(path)
  if (!endedUncleanly) {
    const file = await open(path, 'wx', 0o600)
    await file.close()
    const folder = await open(dirname(path))
    await folder.sync()
    await folder.close()
  }
  return {
    endedUncleanly,
    remove: async () => {
      await unlink(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
      })
    },
  }
}
