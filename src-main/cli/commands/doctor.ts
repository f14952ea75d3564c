import type { CheckView } from '@shared/contract/index.ts'
import { isAnetError } from '@shared/errors.ts'
import { anetCommand, run } from '../command.ts'
import { exitCodes } from '../exit.ts'
import { checksText } from '../node-text.ts'

const nodeDown: CheckView = {
  name: 'node',
  outcome: 'fail',
  seen: 'not running; the checks below are the ones that need no node',
  remedy: 'Start it with "anet up".',
}

export const doctorCommand = anetCommand(
  'doctor',
  'check everything the node needs, and say what to do',
  'anet doctor --json',
).action(
  run(async ({ node, dataDir, show }) => {
    let running = true
    let checks: CheckView[]
    try {
      checks = (await node.node.doctor({})).checks
    } catch (error) {
      if (!isAnetError(error, 'node_not_running')) throw error
      running = false
      const { checksWithoutNode } = await import('../../node/doctor/index.ts')
      checks = [nodeDown, ...(await checksWithoutNode(dataDir))]
    }
    show({ running, checks }, checksText(checks))
    if (!running) return exitCodes.notRunning
    return checks.some((check) => check.outcome === 'fail') ? exitCodes.failure : exitCodes.ok
  }),
)
