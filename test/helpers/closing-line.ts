import { writeFileSync, writeSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

/** Prints `N passed, N failed` as the last line of a run; a file that did not load and an unhandled error count as failures. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      const states = [...module.children.allTests()].map((test) => test.result().state)
      for (const state of states) count[state] += 1
      if (!module.ok() && !states.includes('failed')) count.failed += 1
    }
    const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : ''
    const line = `${count.passed} passed, ${count.failed} failed${skipped}\n`
    const file = process.env['ANET_CLOSING_LINE']
    // build/test.mjs prints it when everything else has been said
    if (file !== undefined) writeFileSync(file, line)
    // at exit, so that no other reporter writes after it
    else process.once('exit', () => writeSync(1, line))
  }
}
