import { expect, test } from 'vitest'
import { steeredClock, temporaryStore } from '../../helpers/temporary-store.ts'

test('the clock of replay windows follows the system clock and never goes back', async () => {
  const clock = steeredClock()
  const start = clock.time
  const store = await temporaryStore({ clock })
  const now = () => store.write((tx) => store.monotonicNow(tx))
  expect(await now()).toBe(start)
  clock.time = start + 5000
  expect(await now()).toBe(start + 5000)
  clock.time = start
  expect(await now()).toBe(start + 5000)
  clock.time = start + 5001
  expect(await now()).toBe(start + 5001)
})

test('it does not go back over a restart, beyond a second', async () => {
  const clock = steeredClock()
  const start = clock.time
  const store = await temporaryStore({ clock })
  for (const after of [0, 400, 999, 1000, 60_000, 60_999]) {
    clock.time = start + after
    await store.write((tx) => store.monotonicNow(tx))
  }
  await store.close()
  clock.time = start - 3_600_000
  const again = await temporaryStore({ dataDir: store.dataDir, clock })
  const now = await again.write((tx) => again.monotonicNow(tx))
  expect(now).toBeGreaterThan(start + 60_999 - 1000)
})

test('a transaction that is rolled back does not lose the time it gave out', async () => {
  const clock = steeredClock()
  const start = clock.time
  const store = await temporaryStore({ clock })
  clock.time = start + 10_000
  await store
    .write((tx) => {
      store.monotonicNow(tx)
      throw new Error('rolled back')
    })
    .catch(() => undefined)
  clock.time = start
  expect(await store.write((tx) => store.monotonicNow(tx))).toBe(start + 10_000)
  await store.close()
  const again = await temporaryStore({ dataDir: store.dataDir, clock })
  expect(await again.write((tx) => again.monotonicNow(tx))).toBe(start + 10_000)
})
