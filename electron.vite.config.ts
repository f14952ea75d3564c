import { resolve } from 'node:path'
import { defineConfig } from 'electron-vite'

const root = import.meta.dirname
const alias = { '@shared': resolve(root, 'src-shared') }

// One build for every process. package.json "dependencies" (native modules) stay external, the rest is bundled.
export default defineConfig({
  main: {
    resolve: { alias },
    build: {
      outDir: 'out',
      target: 'node20.18',
      sourcemap: true,
      rolldownOptions: {
        input: {
          'cli/index': resolve(root, 'src-main/cli/index.ts'),
        },
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
