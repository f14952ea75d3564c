import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'

/** Builds the product once before the suites that start its processes. */
export function setup(): void {
  execFileSync(process.execPath, [resolve(import.meta.dirname, '../../bin/anet.mjs'), '--version'], {
    stdio: 'inherit',
  })
}
