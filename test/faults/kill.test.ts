import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FaultyNetwork, startFaultyNetwork } from '../helpers/faults/network.ts'
import { isFullRun } from '../helpers/faults/points.ts'
import { expectSound, reasonsOf, sendAll, textsOf } from '../helpers/faults/workload.ts'

let network: FaultyNetwork

beforeAll(async () => {
  network = await startFaultyNetwork()
})

afterAll(() => network.stop())

const [count, kills] = isFullRun ? [200, 3] : [50, 1]

describe(`${count} tasks, and in the middle of them kill -9`, () => {
  test.each(['operator', 'hub', 'provider', 'agent'] as const)('of the %s', async (who) => {
    const program = network.programs[who]
    const deaths = program.deaths
    const begun = async (): Promise<number> =>
      (await network.texts()).filter((text) => text.startsWith(`kill ${who}:`)).length
    let underWay = network.agentHasSeen(12)
    const sending = sendAll(network, textsOf(`kill ${who}`, count))
    for (let left = kills; left > 0; left -= 1) {
      await underWay
      if (left > 1) underWay = network.agentHasSeen(12)
      await program.kill()
      expect(await begun()).toBeLessThan(count)
      await program.up()
    }
    const sent = await sending
    expect(sent).toHaveLength(count)
    expect(program.deaths).toBe(deaths + kills)
    const failed = await expectSound(network, sent)
    // what the agent had begun when it or its node was killed may have had effects: it is not tried again
    const allowed = who === 'operator' || who === 'hub' ? [] : ['TASK_STATE_FAILED backend_outcome_unknown']
    expect([...reasonsOf(failed)].filter((reason) => !allowed.includes(reason))).toEqual([])
  })
})
