/** Called at each durable step with its name. Does nothing, unless a test of crashes chose this step. */
export type Fault = (name: string) => void

/**
 * The fault points of this process: with `ANET_FAULT=name` it kills itself (SIGKILL, as a power cut would) when it
 * comes to that step, with `ANET_FAULT=name:3` when it comes there for the third time.
 */
export function faultFromEnvironment(env: NodeJS.ProcessEnv = process.env): Fault {
  const chosen = env['ANET_FAULT']
  if (chosen === undefined || chosen === '') return () => undefined
  const [, name, count] = /^(.*?)(?::(\d+))?$/.exec(chosen) ?? []
  let left = Number(count ?? 1)
  return (point) => {
    if (point !== name) return
    left -= 1
    if (left === 0) process.kill(process.pid, 'SIGKILL')
  }
}
