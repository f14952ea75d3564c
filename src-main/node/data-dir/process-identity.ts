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
  return { pid, started: await startOf(pid) }
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

async function startOf(pid: number): Promise<string | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1')
    // field 22 is the start time in ticks since the boot; the command (field 2) may hold spaces and parentheses
    const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'latin1')).trim()
    return ticks === undefined ? null : `${boot}/${ticks}`
  } catch {
    return null
  }
}
