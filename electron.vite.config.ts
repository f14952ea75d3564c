import { resolve } from 'node:path'
import { defineConfig } from 'electron-vite'

const root = import.meta.dirname
const alias = { '@shared': resolve(root, 'src-shared') }
// build/output.mjs builds beside the running output and swaps it in
const outDir = process.env['ANET_OUT_DIR'] ?? resolve(root, 'out')

// Entry points by the names of their outputs: out/<name>.js
const entries = {
  'cli/index': 'src-main/cli/index.ts',
  'demo/hub-process': 'src-main/demo/hub-process.ts',
  'demo/node-process': 'src-main/demo/node-process.ts',
  'demo/agents-process': 'src-main/demo/agents-process.ts',
  'workers/keychain': 'src-main/node/secrets/keychain-worker.ts',
}

// ANET_NO_A2A=1 makes a build without the local A2A endpoint (spec/a2a-endpoint.md, Command line around it)
const define = { __ANET_A2A__: JSON.stringify(process.env['ANET_NO_A2A'] !== '1') }

// One build for every process. package.json "dependencies" (native modules) stay external, the rest is bundled.
export default defineConfig({
  main: {
    define,
    resolve: { alias },
    build: {
      outDir,
      target: 'node20.18',
      sourcemap: true,
      rolldownOptions: {
        input: Object.fromEntries(Object.entries(entries).map(([name, source]) => [name, resolve(root, source)])),
        output: {
          format: 'es',
          entryFileNames: '[name].js',
          // every output lies one folder deep, so that new URL('../workers/x.js', import.meta.url) holds in all of them
          chunkFileNames: 'chunks/[name]-[hash].js',
        },
      },
    },
  },
})
