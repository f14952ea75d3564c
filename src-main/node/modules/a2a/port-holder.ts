import { execFile } from 'node:child_process'
import { readdir, readFile, readlink } from 'node:fs/promises'
import { promisify } from 'node:util'

/** Who has a port. Unknown counts as another user, because the token may have gone to them. */
export interface PortHolder {
  readonly pid: number | null
  readonly command: string | null
  readonly user: string | null
  readonly otherUser: boolean
}

export const unknownHolder: PortHolder = { pid: null, command: null, user: null, otherUser: true }
const run = promisify(execFile)

/**
 * Finds the process that has a TCP port on a loopback or unspecified address, without sending it a byte. Undefined if
 * the platform shows nobody.
 */
export async function findPortHolder(port: number): Promise<PortHolder | undefined> {
  try {
    if (process.platform === 'linux') return await linuxHolder(port)
    if (process.platform === 'darwin') return await macHolder(port)
    if (process.platform === 'win32') return await windowsHolder(port)
    return unknownHolder
  } catch {
    return unknownHolder
  }
}

/** A socket as /proc/net/tcp{,6} shows it. */
export interface ProcSocket {
  readonly state: string
  readonly uid: number
  readonly inode: string
}

/**
 * Sockets with this local port on an address that keeps a loopback bind from succeeding, in every state: the range of the
 * endpoint lies inside the ephemeral one, so the local end of somebody's outgoing connection may have the port too.
 */
export function socketsOnPort(table: string, port: number): readonly ProcSocket[] {
  const wanted = port.toString(16).toUpperCase().padStart(4, '0')
  const sockets: ProcSocket[] = []
  for (const line of table.split('\n').slice(1)) {
    const fields = line.trim().split(/\s+/)
    const [address, localPort] = (fields[1] ?? '').split(':')
    const [state, uid, inode] = [fields[3], fields[7], fields[9]]
    if (localPort !== wanted || address === undefined || !blocksLoopback(address)) continue
    if (state === undefined || uid === undefined || inode === undefined) continue
    sockets.push({ state, uid: Number(uid), inode })
  }
  return sockets
}

function blocksLoopback(hex: string): boolean {
  if (/^0+$/.test(hex)) return true
  if (hex.length === 8) return hex.endsWith('7F')
  // ::1, and IPv4 addresses in IPv6 form
  return hex === '00000000000000000000000001000000' || /^0{16}FFFF0000(?:0{8}|.{6}7F)$/.test(hex)
}

const listening = '0A'

async function linuxHolder(port: number): Promise<PortHolder | undefined> {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'latin1').catch(() => '')),
  )
  const sockets = tables.flatMap((table) => socketsOnPort(table, port)).filter(({ inode }) => inode !== '0')
  const socket = sockets.find(({ state }) => state === listening) ?? sockets[0]
  if (socket === undefined) return undefined
  const pid = await processOfSocket(socket.inode)
  const [command, user] = await Promise.all([
    pid === null
      ? null
      : readFile(`/proc/${pid}/comm`, 'utf8').then(
          (text) => text.trim(),
          () => null,
        ),
    userName(socket.uid),
  ])
  return { pid, command, user, otherUser: socket.uid !== process.getuid?.() }
}

async function processOfSocket(inode: string): Promise<number | null> {
  const link = `socket:[${inode}]`
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    // other users' processes do not show their descriptors
    const descriptors = await readdir(`/proc/${name}/fd`).catch(() => [])
    const links = await Promise.all(descriptors.map((fd) => readlink(`/proc/${name}/fd/${fd}`).catch(() => '')))
    if (links.includes(link)) return Number(name)
  }
  return null
}

async function userName(uid: number): Promise<string> {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n')
  return lines.map((line) => line.split(':')).find((fields) => fields[2] === String(uid))?.[0] ?? String(uid)
}

async function macHolder(port: number): Promise<PortHolder | undefined> {
  const { stdout } = await run('/usr/sbin/lsof', ['-nP', `-iTCP:${port}`, '-F', 'pcuL'])
  const field = (letter: string): string | null => new RegExp(`^${letter}(.*)$`, 'm').exec(stdout)?.[1] ?? null
  const pid = field('p')
  if (pid === null) return undefined
  return {
    pid: Number(pid),
    command: field('c'),
    user: field('L') ?? field('u'),
    otherUser: field('u') !== String(process.getuid?.()),
  }
}

async function windowsHolder(port: number): Promise<PortHolder | undefined> {
  const { stdout } = await run('netstat.exe', ['-ano', '-p', 'TCP'])
  const line = stdout.split('\n').find((text) => new RegExp(`^\\s*TCP\\s+\\S+:${port}\\s`).test(text))
  const pid = line === undefined ? undefined : /(\d+)\s*$/.exec(line)?.[1]
  if (pid === undefined) return undefined
  const task = await run('tasklist.exe', ['/FI', `PID eq ${pid}`, '/FO', 'CSV', '/NH', '/V'])
  const fields = [...task.stdout.matchAll(/"([^"]*)"/g)].map((match) => match[1] ?? '')
  const user = fields[6] ?? null
  const own = `${process.env['USERDOMAIN'] ?? ''}\\${process.env['USERNAME'] ?? ''}`
  return {
    pid: Number(pid),
    command: fields[0] ?? null,
    user,
    otherUser: user === null || user.toLowerCase() !== own.toLowerCase(),
  }
}
