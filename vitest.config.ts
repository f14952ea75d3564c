import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'

/**
 * On CI a failed test is tried again, and the report says so: the endpoint's ports lie inside the range from which the
 * kernel takes those of outgoing connections, so that tests that run side by side can meet on one.
 */
const retry = process.env['CI'] === 'true' ? 2 : 0

const resolveShared = { alias: { '@shared': resolve(import.meta.dirname, 'src-shared') } }

// Suites that start processes run from the build and one file at a time: they share ports and two cores.
const processes = (name: string, groupOrder: number) => ({
  resolve: resolveShared,
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    environment: 'node' as const,
    globalSetup: ['test/helpers/build-once.ts'],
    fileParallelism: false,
    retry,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    sequence: { groupOrder },
  },
})

export default defineConfig({
  test: {
    reporters: ['default', './test/helpers/closing-line.ts'],
    projects: [
      {
        resolve: resolveShared,
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          environment: 'node',
          // properties over many inputs, on a machine that may be busy
          retry,
          testTimeout: 30_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        resolve: resolveShared,
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          environment: 'node',
          retry,
          testTimeout: 30_000,
          hookTimeout: 30_000,
          sequence: { groupOrder: 1 },
        },
      },
      processes('e2e', 2),
      processes('conformance', 3),
      processes('faults', 4),
      processes('desktop', 5),
    ],
  },
})
