import { createHash, randomBytes } from 'node:crypto'
import { lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { AnetError } from '@shared/errors.ts'
import { z } from 'zod'

export const agentIds = ['echo', 'asker', 'summariser'] as const
export type AgentId = (typeof agentIds)[number]

/** Where everything of one demo lies. */
export interface Layout {
  readonly dir: string
  readonly hub: string
  readonly operator: string
  readonly logs: string
  readonly tokenFile: string
  node(agent: AgentId): string
  socket(agent: AgentId): string
  errorLog(name: string): string
  /** Removes what lies outside of the demo's own directory. */
  removeSockets(): Promise<void>
}

/** Bytes of a socket's path that every platform takes (sun_path: 108 on Linux, 104 on macOS). */
const maxSocketPath = 100

export function defaultDemoDir(): string {
  return process.env['ANET_DEMO_DIR'] ?? join(homedir(), '.anet-demo')
}

/**
 * Makes the directories of a demo, private to this user. Sockets lie with the agents; where their paths would be too
 * long, in a private directory below the system's one for temporary files, named after the demo's.
 * Error: `demo_directory_unsafe`.
 */
export async function prepareLayout(dir: string): Promise<Layout> {
  const agents = join(dir, 'agents')
  for (const path of [dir, join(dir, 'hub'), agents, join(dir, 'logs')]) await privateDirectory(path)
  const longest = Buffer.byteLength(join(agents, 'summariser.sock'))
  const sockets = longest <= maxSocketPath ? agents : join(runtimeDir(), `anet-demo-${shortName(dir)}`)
  await privateDirectory(sockets)
  const tokenFile = join(agents, 'token')
  await writeFile(tokenFile, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' }).catch(onlyIfThere)
  return {
    dir,
    hub: join(dir, 'hub'),
    operator: join(dir, 'operator'),
    logs: join(dir, 'logs'),
    tokenFile,
    node: (agent) => join(dir, agent),
    socket: (agent) => join(sockets, `${agent}.sock`),
    errorLog: (name) => join(dir, 'logs', `${name}.log`),
    async removeSockets() {
      if (sockets !== agents) await rm(sockets, { recursive: true, force: true })
    },
  }
}

function runtimeDir(): string {
  return process.env['XDG_RUNTIME_DIR'] ?? tmpdir()
}

function shortName(dir: string): string {
  return createHash('sha256').update(dir).digest('hex').slice(0, 16)
}

async function privateDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  const found = await lstat(path)
  const mine = process.getuid === undefined || found.uid === process.getuid()
  if (found.isDirectory() && mine && (found.mode & 0o022) === 0) return
  throw new AnetError('demo_directory_unsafe', `${path} is not a directory of this user alone.`, {
    remedy: 'Choose another one with --data DIR.',
  })
}

function onlyIfThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}

const stateSchema = z.object({ hub: z.object({ port: z.int().min(1).max(65535), aid: z.string() }) })
export type HubMemory = z.infer<typeof stateSchema>['hub']

/** The hub of an earlier run on this directory: the nodes look for it where it was. */
export async function rememberedHub(dir: string): Promise<HubMemory | undefined> {
  try {
    return stateSchema.parse(JSON.parse(await readFile(join(dir, 'demo.json'), 'utf8'))).hub
  } catch {
    return undefined
  }
}

export function rememberHub(dir: string, hub: HubMemory): Promise<void> {
  return writeWhole(join(dir, 'demo.json'), { hub })
}

/** A reader sees the whole file or none. */
export async function writeWhole(path: string, value: unknown): Promise<void> {
  const part = `${path}.${randomBytes(6).toString('hex')}`
  await writeFile(part, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
  await rename(part, path)
}
