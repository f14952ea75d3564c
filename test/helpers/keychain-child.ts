import { join, resolve } from 'node:path'
import { writeFile } from 'node:fs/promises'
import { build } from 'vite'

const root = resolve(import.meta.dirname, '../..')

/** Builds the keychain's helper process as the product does, into a folder below the repository so that keytar is found. */
export async function builtKeychainWorker(): Promise<string> {
  const outDir = join(root, '.tsbuild', 'keychain-worker')
  await build({
    configFile: false,
    logLevel: 'error',
    resolve: { alias: { '@shared': join(root, 'src-shared') } },
    build: {
      ssr: join(root, 'src-main/node/secrets/keychain-worker.ts'),
      outDir,
      emptyOutDir: false,
      target: 'node20.18',
      rolldownOptions: { external: ['keytar'], output: { entryFileNames: 'keychain.js' } },
    },
    ssr: { noExternal: true, external: ['keytar'] },
  })
  return join(outDir, 'keychain.js')
}

/** A helper process that behaves as `source` says, in place of the real one. */
export async function scriptedChild(folder: string, source: string): Promise<string> {
  const path = join(folder, `child-${Math.random().toString(36).slice(2)}.mjs`)
  await writeFile(path, source)
  return path
}
