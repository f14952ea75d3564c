import { createPrivateFile, removePrivateFile } from '../data-dir/index.ts'

/** A file that lies beside the database while it is open. At the next start it tells of an end that was not clean. */
export interface OpenMarker {
  readonly endedUncleanly: boolean
  /** After the database has been closed. */
  remove(): Promise<void>
}

/** Errors: `disk_full`, `data_dir_read_only`. */
export async function placeMarker(databasePath: string): Promise<OpenMarker> {
  const path = `${databasePath}-open`
  const endedUncleanly = !(await createPrivateFile(path, ''))
  return { endedUncleanly, remove: () => removePrivateFile(path) }
}
