import type { Log } from './ports.ts'

/** What was started, to be ended in the reverse order. */
export interface Unwinding {
  /** Where a step that fails is reported. */
  log: Log | undefined
  add(name: string, end: () => Promise<void> | void): void
  /** Ends everything once; a step that fails or hangs does not keep the others from ending. */
  run(): Promise<void>
  /** Resolves when `run` has finished. */
  readonly done: Promise<void>
}

/** All steps together have this long: a node that is told to stop is gone within 5 seconds. */
const budgetMs = 4500

export function createUnwinding(): Unwinding {
  const steps: { name: string; end: () => Promise<void> | void }[] = []
  let running: Promise<void> | undefined
  let finish = (): void => {}
  const done = new Promise<void>((resolve) => (finish = resolve))

  const unwind = async (): Promise<void> => {
    const until = performance.now() + budgetMs
    for (const { name, end } of steps.toReversed()) {
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<'late'>((resolve) => {
        timer = setTimeout(() => resolve('late'), Math.max(100, until - performance.now()))
      })
      try {
        const outcome = await Promise.race([Promise.resolve(end()), late])
        if (outcome === 'late') unwinding.log?.warn({ step: name }, 'a part of the node did not end in time')
      } catch (error) {
        unwinding.log?.error({ err: error, step: name }, 'a part of the node failed to end')
      }
      clearTimeout(timer)
    }
    finish()
  }
  const unwinding: Unwinding = {
    log: undefined,
    add: (name, end) => void steps.push({ name, end }),
    run: () => (running ??= unwind()),
    done,
  }
  return unwinding
}
