import { AnetError } from '@shared/errors.ts'
import { anetCommand, type CommonOptions, run } from '../command.ts'
import { nodeGone } from '../processes.ts'

const patienceMs = 10_000

export const stopCommand = anetCommand('stop', 'stop the running node', 'anet stop')
  .option('--force', 'also while a backend works on a task, whose outcome is then unknown', false)
  .action(
    run(async ({ node, dataDir, show }, _: [], { force }: CommonOptions & { force: boolean }) => {
      const { pid } = await node.node.status({})
      const answer = await node.node.stop({ force })
      if (!answer.stopping) {
        throw new AnetError('work_in_flight', `A backend works on ${answer.inFlight.join(', ')}.`, {
          remedy: 'Wait for it, or stop with --force: what the backend did is then unknown.',
        })
      }
      if (!(await nodeGone(dataDir, patienceMs))) {
        throw new AnetError('still_running', `The node (pid ${pid}) still runs after ${patienceMs / 1000} seconds.`, {
          remedy: `End it with "kill ${pid}".`,
        })
      }
      show({ stopped: true, pid }, 'The node has stopped.')
    }),
  )
