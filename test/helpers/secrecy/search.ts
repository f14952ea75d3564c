import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A place to look at: its name, for the report, and its bytes. */
export interface Haystack {
  readonly name: string
  readonly bytes: Buffer
}

/**
 * Every form in which the bytes may lie somewhere: raw, UTF-16, hex in both cases, base64 and base64url. What base64
 * makes of bytes depends on where in the whole they begin, so there are three of each; the characters at both ends that
 * hold neighbours' bits are left out.
 */
export function formsOf(secret: Uint8Array): ReadonlyMap<string, Buffer> {
  const bytes = Buffer.from(secret)
  const hex = bytes.toString('hex')
  const forms = new Map<string, Buffer>([
    ['raw', bytes],
    ['UTF-16', Buffer.from(bytes.toString('latin1'), 'utf16le')],
    ['hex', Buffer.from(hex)],
    ['HEX', Buffer.from(hex.toUpperCase())],
  ])
  for (const offset of [0, 1, 2]) {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
    const inner = text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6))
    forms.set(`base64 at ${offset}`, Buffer.from(inner))
    forms.set(`base64url at ${offset}`, Buffer.from(inner.replaceAll('+', '-').replaceAll('/', '_')))
  }
  return forms
}

/** Where the secret lies and in which form: `logs/node.log: hex`. */
export function findIn(haystacks: readonly Haystack[], secret: Uint8Array): string[] {
  const forms = [...formsOf(secret)]
  return haystacks.flatMap(({ name, bytes }) =>
    forms.filter(([, form]) => bytes.includes(form)).map(([form]) => `${name}: ${form}`),
  )
}

/** Every file below a folder. A file that goes while it is looked for is not there. */
export async function filesBelow(folder: string): Promise<Haystack[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const read = entries
    .filter((entry) => entry.isFile())
    .map(async (entry) => {
      const path = join(entry.parentPath, entry.name)
      const bytes = await readFile(path).catch(() => undefined)
      return bytes === undefined ? [] : [{ name: path.slice(folder.length + 1), bytes }]
    })
  return (await Promise.all(read)).flat()
}

/** What other users and diagnostics can read of a process, and of its children: arguments and environment. */
export async function processFaces(pid: number): Promise<Haystack[]> {
  const faces = await Promise.all(
    ['cmdline', 'environ'].map(async (face) => ({
      name: `${pid} ${face}`,
      bytes: await readFile(`/proc/${pid}/${face}`),
    })),
  )
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').filter(Boolean)
  return [...faces, ...(await Promise.all(children.map((child) => processFaces(Number(child))))).flat()]
}
