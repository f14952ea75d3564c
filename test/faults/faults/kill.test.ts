import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FaultyNetwork, startFaultyNetwork } from '../helpers/faults/network.ts'
import { expectSound, reasonsOf, sendAll, textsOf } from '../helpers/faults/workload.ts'

let network: FaultyNetwork

beforeAll(async () => {
  network = await startFaultyNetwork()
})

afterAll(() => network.stop())

describe('50 tasks, and in the middle of them kill -9', () => {
  test.each(['operator', 'hub', 'provider', 'agent'] as const)('of the %s', async (who) => {
    const program = network.programs[who]
    const deaths = program.deaths
    const underWay = network.agentHasSeen(12)
    const sending = sendAll(network, textsOf(`kill ${who}`, 50))
    await underWay
    await program.kill()
    expect((await network.texts()).filter((text) => text.startsWith(`kill ${who}:`)).length).toBeLessThan(50)
    const sent = await sending
    expect(sent).toHaveLength(50)
    expect(program.deaths).toBe(deaths + 1)
    const failed = await expectSound(network, sent)
    // what the agent had begun when it or its node was killed may have had effects: it is not tried again
    const allowed = who === 'operator' || who === 'hub' ? [] : ['TASK_STATE_FAILED backend_outcome_unknown']
    expect([...reasonsOf(failed)].filter((reason) => !allowed.includes(reason))).toEqual([])
  })
})
