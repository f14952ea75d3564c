import { execFile } from 'node:child_process'

const timeoutMs = 2000

/**
 * Whether something shows tray icons. Without it a hidden window could not be found again, so closing minimises.
 * On Linux a StatusNotifierWatcher on the session bus says so; elsewhere there always is one.
 */
export function hasTrayHost(): Promise<boolean> {
  if (process.platform !== 'linux') return Promise.resolve(true)
  const query = [
    '--session',
    '--print-reply=literal',
    `--reply-timeout=${timeoutMs}`,
    '--dest=org.kde.StatusNotifierWatcher',
    '/StatusNotifierWatcher',
    'org.freedesktop.DBus.Properties.Get',
    'string:org.kde.StatusNotifierWatcher',
    'string:IsStatusNotifierHostRegistered',
  ]
  return new Promise((resolve) => {
    execFile('dbus-send', query, { timeout: timeoutMs }, (error, stdout) =>
      resolve(error === null && stdout.includes('true')),
    )
  })
}
