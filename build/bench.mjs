// Measures the speed goals: builds the product and the bench, then runs it. `npm run bench -- --help` says more.
import { spawn } from 'node:child_process'
import { join, resolve } from 'node:path'
import { build } from 'vite'
import { ensureBuilt } from './output.mjs'

const root = resolve(import.meta.dirname, '..')
const outDir = join(root, '.cache', 'bench')
const processes = ['bare-server', 'echo-agent', 'load', 'sdk-server', 'sqlite-writer']

const problem = await ensureBuilt(root)
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`)
  process.exit(1)
}
await build({
  root,
  configFile: false,
  logLevel: 'error',
  resolve: { alias: { '@shared': resolve(root, 'src-shared') } },
  ssr: { noExternal: true, external: ['@photostructure/sqlite'] },
  build: {
    ssr: true,
    outDir,
    emptyOutDir: true,
    target: 'node20.18',
    rolldownOptions: {
      input: {
        index: resolve(root, 'test/bench/index.ts'),
        ...Object.fromEntries(processes.map((name) => [name, resolve(root, `test/bench/processes/${name}.ts`)])),
      },
      output: { entryFileNames: '[name].mjs', chunkFileNames: 'chunks/[name]-[hash].mjs' },
    },
  },
})
const child = spawn(process.execPath, [join(outDir, 'index.mjs'), root, ...process.argv.slice(2)], { stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
child.once('exit', (code) => process.exit(code ?? 1))
