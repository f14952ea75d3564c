import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { AnetError } from '@shared/errors.ts'
import { createPrivateFile, readPrivateFile, removePrivateFile } from './private-file.ts'
import { identifyProcess, stillRuns } from './process-identity.ts'

export type NodeKind = 'desktop' | 'headless'

const holderSchema = z.object({
  pid: z.int().positive(),
  started: z.string().max(128).nullable(),
  kind: z.enum(['desktop', 'headless']),
  /** Milliseconds since 1970. */
  since: z.number(),
})
/** Who holds a data directory: the content of `node.lock`. */
export type LockHolder = z.infer<typeof holderSchema>

export interface DataDirLock {
  release(): Promise<void>
}

const maxBytes = 4096

/**
 * Takes `node.lock`: one node for a data directory. What a dead process left is taken over. Errors: `node_running`,
 * which describes the holder (`details`: pid, kind, since).
 */
export async function lockDataDir(dataDir: string, kind: NodeKind): Promise<DataDirLock> {
  const path = join(dataDir, 'node.lock')
  const own = await ownIdentity(kind)
  const text = `${JSON.stringify(own)}\n`
  for (;;) {
    if (await createPrivateFile(path, text)) return lockOf(path, text)
    const found = await readText(path)
    if (found === undefined) continue
    const holder = parseHolder(found)
    if (holder !== undefined && (await stillRuns(holder))) throw nodeRunning(dataDir, holder)
    if (await takeOver(path, found, text)) return lockOf(path, text)
  }
}

/** The node that holds a data directory, if one runs. */
export async function lockHolder(dataDir: string): Promise<LockHolder | undefined> {
  const text = await readText(join(dataDir, 'node.lock'))
  const holder = text === undefined ? undefined : parseHolder(text)
  return holder !== undefined && (await stillRuns(holder)) ? holder : undefined
}

/**
 * Replaces a lock that a dead process left. Of several that find it so, one may: the one that makes the second file,
 * and it looks again while it has that.
 */
async function takeOver(path: string, stale: string, text: string): Promise<boolean> {
  const turn = `${path}.takeover`
  if (!(await createPrivateFile(turn, text))) {
    const other = parseHolder((await readText(turn)) ?? '')
    // another is taking it over, unless it died doing so
    if (other === undefined || !(await stillRuns(other))) await removePrivateFile(turn)
    return false
  }
  if ((await readText(path)) !== stale) {
    await removePrivateFile(turn)
    return false
  }
  await rename(turn, path)
  return true
}

function lockOf(path: string, text: string): DataDirLock {
  return {
    release: async () => {
      if ((await readText(path)) === text) await removePrivateFile(path)
    },
  }
}

async function ownIdentity(kind: NodeKind): Promise<LockHolder> {
  const identity = (await identifyProcess(process.pid)) ?? { pid: process.pid, started: null }
  return { ...identity, kind, since: Date.now() }
}

async function readText(path: string): Promise<string | undefined> {
  return (await readPrivateFile(path, { maxBytes }))?.toString('utf8')
}

function parseHolder(text: string): LockHolder | undefined {
  try {
    return holderSchema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

function nodeRunning(dataDir: string, { pid, kind, since }: LockHolder): AnetError {
  const what = kind === 'desktop' ? 'ANet Desktop' : 'a node without a window'
  return new AnetError(
    'node_running',
    `${dataDir} is in use by ${what}, process ${pid}, since ${new Date(since).toISOString()}.`,
    {
      remedy: `Stop it first (anet stop, or Quit in its menu), or choose another directory with ANET_DATA_DIR.`,
      details: { pid, kind, since },
    },
  )
}
