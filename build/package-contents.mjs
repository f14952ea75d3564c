// What a package holds beside Electron and the application: the `anet` command; and what it must not hold.
import { chmod, copyFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Parts of a runtime that runs unpackaged applications. */
const unwanted = ['default_app.asar']

/**
 * @param {string} appOutDir folder of the package
 * @param {string} platform `linux`, `darwin` or `win32`
 * @param {string} templates folder of the command's scripts
 */
export async function finishPackage(appOutDir, platform, templates) {
  const resources =
    platform === 'darwin' ? join(appOutDir, 'ANet.app', 'Contents', 'Resources') : join(appOutDir, 'resources')
  for (const name of unwanted) await rm(join(resources, name), { force: true })
  await rm(join(appOutDir, 'anet-runtime.json'), { force: true })
  const script = platform === 'win32' ? 'anet.cmd' : 'anet'
  const target = platform === 'darwin' ? join(resources, script) : join(appOutDir, script)
  await copyFile(join(templates, platform === 'darwin' ? 'anet-macos' : script), target)
  await chmod(target, 0o755)
}
