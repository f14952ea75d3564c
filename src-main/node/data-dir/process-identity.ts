import { readFile } from 'node:fs/promises'

/** Names a process so that another one with the same pid is not taken for it. */
export interface ProcessIdentity {
  readonly pid: number
  /** Boot and start time as the kernel tells them (Linux); null where it does not. */
  readonly started: string | null
}

/** Undefined if no such process runs. */
export async function identifyProcess(pid: number): Promise<ProcessIdentity | undefined> {
  if (!isRunning(pid)) return undefined
  const stat = await statOf(pid)
  // a zombie has ended; only its parent has not looked yet
  if (stat?.state === 'Z' || stat?.state === 'X') return undefined
  return { pid, started: stat?.started ?? null }
}

/** Whether that very process still runs. Where the start time is unknown the pid decides. */
export async function stillRuns(identity: ProcessIdentity): Promise<boolean> {
  const now = await identifyProcess(identity.pid)
  if (now === undefined) return false
  return now.started === null || identity.started === null || now.started === identity.started
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it runs, as another user
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function statOf(pid: number): Promise<{ state: string; started: string } | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1')
    // field 3 is the state, field 22 the start time in ticks since the boot; the command (field 2) may hold spaces and
    // parentheses
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state, ticks] = [fields[0], fields[19]]
    const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'latin1')).trim()
    return state === undefined || ticks === undefined ? undefined : { state, started: `${boot}/${ticks}` }
  } catch {
    return undefined
  }
}
