import { mkdtemp, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { build } from 'vite'
import { onTestFinished } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

/** Builds one source file for a process of its own; the native modules stay where they are. Gone with the test. */
export async function bundled(source: string): Promise<string> {
  const { program, folder } = await bundleInto(source)
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return program
}

/** The same for a whole file of tests, which removes the folder. */
export async function bundleInto(source: string): Promise<{ program: string; folder: string }> {
  // inside the repository, so that the native modules are found
  const outDir = await mkdtemp(join(root, 'node_modules', '.anet-test-'))
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    resolve: { alias: { '@shared': resolve(root, 'src-shared') } },
    ssr: { noExternal: true, external: ['@photostructure/sqlite'] },
    build: {
      ssr: resolve(root, source),
      outDir,
      emptyOutDir: true,
      target: 'node20',
      rolldownOptions: { output: { entryFileNames: 'main.mjs' } },
    },
  })
  return { program: join(outDir, 'main.mjs'), folder: outDir }
}
