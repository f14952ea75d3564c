import { lstat, readlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AnetError } from '@shared/errors.ts'
import { type Accounts, type Group, groupIsTrusted } from './accounts.ts'

export interface SocketPathRules {
  readonly accounts: Accounts
  /** The node's own uid. */
  readonly nodeUid: number
  /** uid named by `expected_user`. */
  readonly expectedUid: number | undefined
  /** Group named by `socket_group`: its members may change the path. */
  readonly socketGroup: Group | undefined
}

interface Step {
  readonly directory: string
  readonly uid: number
  readonly gid: number
  readonly mode: number
  /** Owner of the entry of this directory through which the path leads on. */
  readonly entryUid: number
}

const maxLinks = 40

/**
 * Checks that only trusted accounts may change any directory on the way to a socket: root, the node's user, the
 * socket's owner, `expected_user`, and members of `socket_group` (spec/provider.md, Backends). Symbolic links are
 * followed and the directories of their targets checked too. A sticky directory such as /tmp that others may write is
 * accepted where the next entry belongs to root, the node's user or `expected_user`, since nobody else can replace it;
 * the socket's owner does not count there, because a stranger's socket would vouch for itself.
 * Returns the owner of the socket. Errors: `backend_unreachable` (nothing there), `backend_untrusted_path`.
 */
export async function checkSocketPath(path: string, rules: SocketPathRules): Promise<{ readonly socketUid: number }> {
  const { steps, socketUid } = await walk(path)
  const named = new Set([0, rules.nodeUid, ...(rules.expectedUid === undefined ? [] : [rules.expectedUid])])
  const members = await Promise.all((rules.socketGroup?.members ?? []).map((name) => rules.accounts.user(name)))
  const trusted = new Set([...named, socketUid, ...members.flatMap((user) => (user === undefined ? [] : [user.uid]))])
  for (const step of steps) {
    if (!trusted.has(step.uid)) throw untrusted(path, step, `belongs to uid ${step.uid}`)
    const keepsEntry = (step.mode & 0o1000) !== 0 && named.has(step.entryUid)
    if (keepsEntry) continue
    if ((step.mode & 0o002) !== 0) throw untrusted(path, step, 'may be changed by everybody')
    if ((step.mode & 0o020) === 0) continue
    if (!(await groupIsTrusted(rules.accounts, step.gid, trusted, rules.socketGroup))) {
      throw untrusted(path, step, `may be changed by the group with gid ${step.gid}`)
    }
  }
  return { socketUid }
}

async function walk(path: string): Promise<{ steps: readonly Step[]; socketUid: number }> {
  const steps: Step[] = []
  let rest = components(path)
  let directory = '/'
  let links = 0
  for (;;) {
    const name = rest.shift()
    if (name === undefined) throw notASocket(path)
    if (name === '..') {
      directory = dirname(directory)
      continue
    }
    const here = join(directory, name)
    const [container, entry] = await Promise.all([look(path, directory), look(path, here)])
    steps.push({
      directory,
      uid: container.uid,
      gid: container.gid,
      mode: container.mode,
      entryUid: entry.uid,
    })
    if (entry.isSymbolicLink()) {
      links += 1
      if (links > maxLinks) throw notASocket(path)
      const target = await readlink(here)
      rest = [...components(target), ...rest]
      if (target.startsWith('/')) directory = '/'
    } else if (entry.isDirectory()) {
      directory = here
    } else if (entry.isSocket() && rest.length === 0) {
      return { steps, socketUid: entry.uid }
    } else {
      throw notASocket(path)
    }
  }
}

function components(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.')
}

async function look(socket: string, path: string) {
  try {
    return await lstat(path)
  } catch (cause) {
    throw new AnetError('backend_unreachable', `The socket ${socket} cannot be reached: ${path} is missing.`, {
      remedy: 'Start the agent, or correct "url" of this backend in config.json.',
      cause,
    })
  }
}

function notASocket(path: string): AnetError {
  return new AnetError('backend_untrusted_path', `${path} is not a socket.`, {
    remedy: 'Correct "url" of this backend in config.json.',
  })
}

function untrusted(path: string, step: Step, why: string): AnetError {
  const mode = (step.mode & 0o7777).toString(8).padStart(4, '0')
  return new AnetError(
    'backend_untrusted_path',
    `The socket ${path} is not safe: the directory ${step.directory} (mode ${mode}) ${why}.`,
    {
      remedy:
        'Let only the account of the agent write this directory (chmod go-w), or name the group that may in "socket_group".',
    },
  )
}
