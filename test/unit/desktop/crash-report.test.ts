import { homedir, hostname, userInfo } from 'node:os'
import { expect, test } from 'vitest'
import { crashReport, CrashTally } from '../../../src-main/desktop/crash-report.ts'

const crash = (at: number) => ({ at, reason: 'crashed', exitCode: 5 })

test('three crashes are answered with a new page, the fourth with an explanation, the fifth with nothing', () => {
  const tally = new CrashTally()
  expect([1, 2, 3, 4, 5].map((at) => tally.add(crash(at)))).toEqual(['reload', 'reload', 'reload', 'explain', 'stay'])
})

test('a minute of calm begins the count anew', () => {
  const tally = new CrashTally()
  for (const at of [1, 2, 3]) tally.add(crash(at))
  expect(tally.add(crash(61_001))).toBe('reload')
})

test('the report holds versions and times, and nothing of the operator', () => {
  const report = crashReport([crash(0), crash(1000)])
  expect(report).toContain('1970-01-01T00:00:01.000Z  crashed, exit code 5')
  for (const own of [homedir(), hostname(), userInfo().username]) expect(report).not.toContain(own)
})
