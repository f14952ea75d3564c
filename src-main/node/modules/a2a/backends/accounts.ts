import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

export interface User {
  readonly name: string
  readonly uid: number
  readonly primaryGid: number
}

export interface Group {
  readonly name: string
  readonly gid: number
  /** Names listed as members; users whose primary group it is are not among them. */
  readonly members: readonly string[]
}

/** The accounts of this machine. Keys are names or decimal ids. */
export interface Accounts {
  user(key: string | number): Promise<User | undefined>
  group(key: string | number): Promise<Group | undefined>
  /** Users of /etc/passwd with this primary group; accounts of a directory service are not enumerated. */
  withPrimaryGroup(gid: number): Promise<readonly User[]>
}

const run = promisify(execFile)

/** Reads /etc/passwd and /etc/group, and asks `getent` for accounts that a directory service keeps. */
export const systemAccounts: Accounts = {
  async user(key) {
    const line = await entry('passwd', String(key))
    return line === undefined ? undefined : parseUser(line)
  },
  async group(key) {
    const line = await entry('group', String(key))
    return line === undefined ? undefined : parseGroup(line)
  },
  async withPrimaryGroup(gid) {
    const users = (await lines('passwd')).map(parseUser)
    return users.filter((user) => user.primaryGid === gid)
  },
}

async function lines(database: 'passwd' | 'group'): Promise<string[]> {
  const text = await readFile(`/etc/${database}`, 'utf8')
  return text.split('\n').filter((line) => line.includes(':') && !line.startsWith('#'))
}

async function entry(database: 'passwd' | 'group', key: string): Promise<string | undefined> {
  if (!/^[\w.][\w.$@-]*$/.test(key)) return undefined
  for (const line of await lines(database)) {
    const fields = line.split(':')
    if (fields[0] === key || fields[2] === key) return line
  }
  try {
    const { stdout } = await run('getent', [database, key], { timeout: 2000, maxBuffer: 1 << 20 })
    return stdout.split('\n')[0] || undefined
  } catch {
    return undefined
  }
}

function parseUser(line: string): User {
  const [name = '', , uid = '', gid = ''] = line.split(':')
  return { name, uid: Number(uid), primaryGid: Number(gid) }
}

function parseGroup(line: string): Group {
  const [name = '', , gid = '', members = ''] = line.split(':')
  return { name, gid: Number(gid), members: members.split(',').filter((member) => member !== '') }
}

/**
 * Whether everybody in a group is trusted: the group that the operator named, the group of root, or the private group
 * of a trusted user, each without members that are not trusted. Other groups are not: who is in them cannot be told
 * reliably where a directory service keeps accounts.
 */
export async function groupIsTrusted(
  accounts: Accounts,
  gid: number,
  trusted: ReadonlySet<number>,
  socketGroup: Group | undefined,
): Promise<boolean> {
  if (socketGroup?.gid === gid) return true
  const group = await accounts.group(gid)
  if (group === undefined) return false
  const primary = await accounts.withPrimaryGroup(gid)
  const owner = await accounts.user(group.name)
  const userPrivate = owner !== undefined && owner.primaryGid === gid && trusted.has(owner.uid)
  if (gid !== 0 && !userPrivate) return false
  const listed = await Promise.all(group.members.map((name) => accounts.user(name)))
  return [...primary, ...listed].every((user) => user !== undefined && trusted.has(user.uid))
}
