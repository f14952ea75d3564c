import { randomInt } from 'node:crypto'
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { isAnetError } from '@shared/errors.ts'
import { identifyProcess, privateDirectory, readPrivateFile, writePrivateFile } from '../../data-dir/index.ts'

/** Ports from which the first start chooses (seed, Address and token). */
const portRange = { first: 43_811, last: 45_810 } as const

export interface EndpointFiles {
  readonly directory: string
  readonly address: string
  readonly token: string
  readonly conflict: string
  /** What was bound last and by which process: tells an edited address and a predecessor that is still closing. */
  readonly bound: string
}

export function endpointFiles(dataDir: string): EndpointFiles {
  const directory = join(dataDir, 'modules', 'a2a')
  return {
    directory,
    address: join(directory, 'a2a_addr.txt'),
    token: join(directory, 'a2a_token.txt'),
    conflict: join(directory, 'a2a_port_conflict.txt'),
    bound: join(directory, 'a2a_bound.json'),
  }
}

const boundSchema = z.object({ address: z.string(), pid: z.int(), started: z.string().nullable() })
export type BoundRecord = z.infer<typeof boundSchema>

/** Where the listener has to be, by the files that are there. */
export type AddressPlan =
  /** No address yet, or its file is gone: a new port, and a new token even if there is one. */
  | { readonly kind: 'choose' }
  | {
      readonly kind: 'recorded'
      readonly port: number
      /** The address is not the one that was bound last, or there is no token: a new one belongs to it. */
      readonly newToken: boolean
      readonly bound: BoundRecord | undefined
    }
  /** The file holds something else. Nothing is overwritten: the operator may want to mend it. */
  | { readonly kind: 'invalid'; readonly why: string }

/** Reads the state directory, which is made if it is missing. */
export async function planAddress(files: EndpointFiles): Promise<AddressPlan> {
  await privateDirectory(files.directory)
  let text: string | undefined
  try {
    // an address is no secret; whoever may write it decides where clients send theirs
    const read = await readPrivateFile(files.address, { maxBytes: 64, readableByOthers: true })
    text = read?.toString('latin1')
  } catch (error) {
    if (!isAnetError(error)) throw error
    return { kind: 'invalid', why: error.message }
  }
  if (text === undefined) return { kind: 'choose' }
  const port = parseAddress(text)
  if (port === undefined)
    return { kind: 'invalid', why: `${files.address} does not hold 127.0.0.1:<port from 1024 to 65535>.` }
  const bound = await readBound(files)
  const hasToken = await lstat(files.token).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  )
  return { kind: 'recorded', port, newToken: !hasToken || bound?.address !== addressOf(port), bound }
}

export function addressOf(port: number): string {
  return `127.0.0.1:${port}`
}

/** The port of `127.0.0.1:<1024–65535>`, with or without a line end. */
function parseAddress(text: string): number | undefined {
  const match = /^127\.0\.0\.1:([1-9]\d{3,4})\r?\n?$/.exec(text)
  const port = Number(match?.[1])
  return port >= 1024 && port <= 65_535 ? port : undefined
}

/** Ports of the range in random order, each once. */
export function* randomPorts(): Generator<number> {
  const ports = Array.from({ length: portRange.last - portRange.first + 1 }, (_, index) => portRange.first + index)
  for (let left = ports.length; left > 0; left -= 1) {
    const chosen = randomInt(left)
    const port = ports[chosen]
    ports[chosen] = ports[left - 1] ?? 0
    if (port !== undefined) yield port
  }
}

/** Records what is bound now. The address comes last: it is missing until everything that belongs to it is there. */
export async function recordBound(files: EndpointFiles, port: number, options: { address: boolean }): Promise<void> {
  const own = await identifyProcess(process.pid)
  const bound: BoundRecord = { address: addressOf(port), pid: process.pid, started: own?.started ?? null }
  await writePrivateFile(files.bound, `${JSON.stringify(bound)}\n`)
  if (options.address) await writePrivateFile(files.address, `${addressOf(port)}\n`)
}

async function readBound(files: EndpointFiles): Promise<BoundRecord | undefined> {
  try {
    const read = await readPrivateFile(files.bound, { maxBytes: 4096 })
    return boundSchema.parse(JSON.parse(read?.toString('utf8') ?? ''))
  } catch {
    // without a usable record nobody knows what was bound: a new token is the safe answer
    return undefined
  }
}
