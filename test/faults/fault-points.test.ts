import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answerByHand, cancellations, dialogue, outcomeUnknown, refusal } from '../helpers/faults/conversations.ts'
import { type FaultyNetwork, startFaultyNetwork } from '../helpers/faults/network.ts'
import { everyRun, hubTaskPoints, isFullRun, otherPoints, taskPoints } from '../helpers/faults/points.ts'
import { expectSound, reasonsOf, sendAll, settled, textsOf } from '../helpers/faults/workload.ts'

const root = resolve(import.meta.dirname, '../..')
let network: FaultyNetwork

beforeAll(async () => {
  network = await startFaultyNetwork()
})

afterAll(() => network.stop())

test('every fault point in the code is in a list here', () => {
  const known = [...taskPoints, ...hubTaskPoints, ...otherPoints]
  const named = new Set(
    ['src-main/node', 'src-hub'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .flatMap((name) => [
          ...readFileSync(join(root, folder, name), 'utf8').matchAll(/fault(?:\?\.)?\(\s*['`]([^'`]+)['`]/g),
        ])
        .map((match) => match[1] ?? ''),
    ),
  )
  const pattern = (name: string): RegExp => new RegExp(`^${name.replaceAll('.', '\\.').replace(/\$\{.*\}/, '\\w+')}$`)
  const missing = [...named].filter((name) => !known.some((point) => pattern(name).test(point)))
  const gone = known.filter((point) => ![...named].some((name) => pattern(name).test(point)))
  expect({ missing, gone }).toEqual({ missing: [], gone: [] })
})

const points = [...taskPoints, ...hubTaskPoints].filter((point) => isFullRun || everyRun.includes(point))
const rounds = points.flatMap((point) => (isFullRun ? [1, 7] : [1]).map((time) => [point, time] as const))

describe('a process that is killed', () => {
  test.each(rounds)('at %s, time %i, loses, doubles and blocks nothing', async (point, time) => {
    const { hub, operator, provider } = network
    const armed = point.startsWith('hub.') ? [hub] : [operator.program, provider.program]
    await Promise.all(armed.map((program) => program.restart(`${point}:${time}`)))
    const deaths = armed.map((program) => program.deaths)
    const round = `${point} ${time}`
    const [sent] = await Promise.all([
      sendAll(network, [...textsOf(round, isFullRun ? 40 : 12), large(round)]),
      dialogue(network, round),
      cancellations(network, round),
      answerByHand(network, round),
      refusal(network, round),
    ])
    const failed = await expectSound(network, sent)
    expect([...reasonsOf(failed)].filter((reason) => reason !== outcomeUnknown)).toEqual([])
    const died = armed.filter((program, index) => program.deaths > (deaths[index] ?? 0))
    if (time === 1)
      expect(
        died.map(({ name }) => name),
        `${point} was not reached`,
      ).not.toEqual([])
  })

  test('and killed again while it finds out what it had begun, says once that the outcome is unknown', async () => {
    const { client, provider, texts } = network
    const text = 'hold twice killed'
    const begun = network.agentHasSeen(1)
    const { id } = await client.send({ text })
    await begun
    const deaths = provider.program.deaths
    await provider.program.kill('provider.recovered')
    const task = await settled(client, id)
    expect([...reasonsOf([task])]).toEqual([outcomeUnknown])
    expect(provider.program.deaths).toBe(deaths + 2)
    expect((await texts()).filter((seen) => seen === text)).toHaveLength(1)
  })
})

/** Over the limits up to which a text lies in its row, and an envelope in the hub's. */
function large(round: string) {
  const text = `${round}: large `
  return { text: text + 'x'.repeat(400_000 - text.length), messageId: `${round} large` }
}
