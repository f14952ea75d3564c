import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import dbus from 'dbus-next'

export type Keyring =
  /** Nothing on the bus keeps secrets, and nothing can be started that does. */
  | 'none'
  /** The keyring service can be started, but nobody has unlocked it and nobody answers its question. */
  | 'locked'
  | 'unlocked'

/** A session bus of its own, with its own keyring. */
export interface PrivateBus {
  readonly address: string
  /** For processes that shall live on this bus. */
  readonly env: Record<string, string>
  stop(): Promise<void>
}

export async function startPrivateBus(keyring: Keyring): Promise<PrivateBus> {
  const folder = await mkdtemp(join(tmpdir(), 'anet-bus-'))
  const config = join(folder, 'bus.conf')
  await writeFile(config, busConfig(folder, keyring === 'locked'))
  const home = { XDG_DATA_HOME: folder, XDG_RUNTIME_DIR: folder, HOME: folder }
  const daemon = spawn('dbus-daemon', [`--config-file=${config}`, '--nofork', '--print-address'], {
    env: { ...process.env, ...home },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [line] = (await once(daemon.stdout, 'data')) as [Buffer]
  const address = line.toString().trim()
  // XDG_RUNTIME_DIR and HOME of the application stay: they have nothing to do with the bus
  const env = { DBUS_SESSION_BUS_ADDRESS: address }
  const keeper = keyring === 'unlocked' ? await unlockKeyring({ ...home, ...env }, address) : undefined
  return {
    address,
    env,
    stop: async () => {
      for (const child of [keeper, daemon]) if (child !== undefined) await end(child)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function unlockKeyring(env: Record<string, string>, address: string): Promise<ChildProcess> {
  const keeper = spawn('gnome-keyring-daemon', ['--foreground', '--unlock', '--components=secrets'], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  keeper.stdin.end('a password of the test')
  const bus = dbus.sessionBus({ busAddress: address })
  const proxy = await bus.getProxyObject('org.freedesktop.DBus', '/org/freedesktop/DBus')
  const owned = proxy.getInterface('org.freedesktop.DBus')
  const name = 'org.freedesktop.secrets'
  const appeared = new Promise<void>((resolve) => {
    owned.on('NameOwnerChanged', (changed: string) => {
      if (changed === name) resolve()
    })
  })
  const hasOwner = owned['NameHasOwner'] as (name: string) => Promise<boolean>
  if (!(await hasOwner.call(owned, name))) await appeared
  bus.disconnect()
  return keeper
}

function busConfig(folder: string, services: boolean): string {
  return `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:dir=${folder}</listen>
  <auth>EXTERNAL</auth>
  ${services ? '<standard_session_servicedirs/>' : ''}
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
`
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
