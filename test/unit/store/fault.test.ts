import { afterEach, expect, test, vi } from 'vitest'
import { faultFromEnvironment } from '../../../src-main/node/fault.ts'

const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
afterEach(() => void kill.mockClear())

test('without ANET_FAULT a fault point does nothing', () => {
  faultFromEnvironment({})('outbox.sent')
  faultFromEnvironment({ ANET_FAULT: '' })('')
  expect(kill).not.toHaveBeenCalled()
})

test('the process kills itself at the step that is named, and nowhere else', () => {
  const fault = faultFromEnvironment({ ANET_FAULT: 'outbox.sent' })
  fault('outbox.sealed')
  expect(kill).not.toHaveBeenCalled()
  fault('outbox.sent')
  expect(kill).toHaveBeenCalledExactlyOnceWith(process.pid, 'SIGKILL')
})

test('or at that step for the nth time', () => {
  const fault = faultFromEnvironment({ ANET_FAULT: 'outbox.sent:3' })
  fault('outbox.sent')
  fault('outbox.sent')
  expect(kill).not.toHaveBeenCalled()
  fault('outbox.sent')
  expect(kill).toHaveBeenCalledOnce()
})
