import { afterAll, beforeAll, describe } from 'vitest'
import { type RunningDemo, startDemo } from '../helpers/demo.ts'
import { bindings } from '../helpers/sdk-client.ts'
import { sdkDesk } from './suites/desk.ts'
import { errors } from './suites/errors.ts'
import { operations } from './suites/operations.ts'
import { streams } from './suites/streams.ts'
import { summary } from './suites/summary.ts'

let demo: RunningDemo
beforeAll(async () => {
  demo = await startDemo()
})
afterAll(() => demo?.stop())

describe.each(bindings)('an unmodified SDK client over %s', (binding) => {
  const desk = sdkDesk(binding, () => demo)
  describe('operations', () => operations(desk))
  describe('streams', () => streams(desk))
  describe('errors', () => errors(desk))
})

describe('one agent, three ways to it', () => summary(() => demo))
