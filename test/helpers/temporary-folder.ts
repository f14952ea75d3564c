import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder of the current test's own, mode 0700; it goes with the test. */
export async function temporaryFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'anet-test-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}
