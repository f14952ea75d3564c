import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FaultyNetwork, startFaultyNetwork } from '../helpers/faults/network.ts'
import { isFullRun } from '../helpers/faults/points.ts'
import { expectSound, reasonsOf, sendAll, type Sent, textsOf } from '../helpers/faults/workload.ts'

let network: FaultyNetwork

beforeAll(async () => {
  network = await startFaultyNetwork()
})

afterAll(() => network.stop())

/** Each batch of 50 is cut by a kill; the full run has four, 200 tasks. */
const batches = isFullRun ? 4 : 1
const batchSize = 50

describe(`${batches * batchSize} tasks, and in the middle of them kill -9`, () => {
  test.each(['operator', 'hub', 'provider', 'agent'] as const)('of the %s', async (who) => {
    const program = network.programs[who]
    const deaths = program.deaths
    const sent: Sent[] = []
    for (let batch = 1; batch <= batches; batch += 1) {
      const round = `kill ${who} ${batch}`
      const underWay = network.agentHasSeen(12)
      const sending = sendAll(network, textsOf(round, batchSize))
      await underWay
      await program.kill()
      const begun = (await network.texts()).filter((text) => text.startsWith(round))
      expect(begun.length).toBeLessThan(batchSize)
      sent.push(...(await sending))
      await program.up()
    }
    expect(sent).toHaveLength(batches * batchSize)
    expect(program.deaths).toBe(deaths + batches)
    const failed = await expectSound(network, sent)
    // what the agent had begun when it or its node was killed may have had effects: it is not tried again
    const allowed = who === 'operator' || who === 'hub' ? [] : ['TASK_STATE_FAILED backend_outcome_unknown']
    expect([...reasonsOf(failed)].filter((reason) => !allowed.includes(reason))).toEqual([])
  })
})
