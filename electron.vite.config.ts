import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'electron-vite'
import type { Plugin } from 'vite'

const root = import.meta.dirname
const alias = { '@shared': resolve(root, 'src-shared') }
// build/output.mjs builds beside the running output and swaps it in
const outDir = process.env['ANET_OUT_DIR'] ?? resolve(root, 'out')

// Entry points by the names of their outputs: out/<name>.js
const entries = {
  'main/index': 'src-main/index.ts',
  'cli/index': 'src-main/cli/index.ts',
  'demo/hub-process': 'src-main/demo/hub-process.ts',
  'demo/node-process': 'src-main/demo/node-process.ts',
  'demo/agents-process': 'src-main/demo/agents-process.ts',
  'workers/keychain': 'src-main/node/secrets/keychain-worker.ts',
}

// ANET_NO_A2A=1 makes a build without the local A2A endpoint (spec/a2a-endpoint.md, Command line around it)
const define = { __ANET_A2A__: JSON.stringify(process.env['ANET_NO_A2A'] !== '1') }

/** The icons of tray and window, as files beside the code that names them. */
const resources: Plugin = {
  name: 'anet-resources',
  generateBundle() {
    const folder = resolve(root, 'build/resources')
    for (const name of readdirSync(folder)) {
      this.emitFile({ type: 'asset', fileName: `resources/${name}`, source: readFileSync(resolve(folder, name)) })
    }
  },
}

// One build for every process. package.json "dependencies" (native modules) stay external, the rest is bundled.
export default defineConfig({
  main: {
    define,
    resolve: { alias },
    plugins: [resources],
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
  preload: {
    resolve: { alias },
    build: {
      outDir: resolve(outDir, 'preload'),
      target: 'node20.18',
      // a sandboxed preload script can load nothing: one file with everything in it
      externalizeDeps: false,
      rolldownOptions: {
        input: { preload: resolve(root, 'src-main/preload.ts') },
        output: { format: 'cjs', entryFileNames: '[name].cjs' },
      },
    },
  },
  renderer: {
    root: resolve(root, 'src-renderer'),
    resolve: { alias },
    plugins: [react()],
    build: {
      outDir: resolve(outDir, 'renderer'),
      target: 'chrome130',
      // the page's policy allows no data: fonts
      assetsInlineLimit: 0,
      rolldownOptions: {
        input: { index: resolve(root, 'src-renderer/index.html'), crash: resolve(root, 'src-renderer/crash.html') },
      },
    },
  },
})
