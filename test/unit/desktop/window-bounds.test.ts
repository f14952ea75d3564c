import { expect, test } from 'vitest'
import { boundsSchema, clampBounds, minimumSize } from '../../../src-main/desktop/window-bounds.ts'

const laptop = { x: 0, y: 0, width: 1440, height: 900 }
const beside = { x: 1440, y: 0, width: 1920, height: 1080 }
const kept = { x: 100, y: 80, width: 1100, height: 700, maximized: false }

test('a first window has the usual size in the middle of the primary display', () => {
  expect(clampBounds(undefined, [laptop])).toEqual({ x: 80, y: 50, width: 1280, height: 800, maximized: false })
})

test('bounds that fit are kept as they are', () => {
  expect(clampBounds(kept, [laptop])).toEqual(kept)
  expect(clampBounds({ ...kept, x: 2000 }, [laptop, beside])).toEqual({ ...kept, x: 2000 })
})

test('a window on a display that is gone comes to the primary one', () => {
  const { x, y, width, height } = clampBounds({ ...kept, x: 2000 }, [laptop])
  expect({ width, height }).toEqual({ width: 1100, height: 700 })
  expect(x).toBe(170)
  expect(y).toBe(100)
})

test('a window that sticks out is moved in whole', () => {
  expect(clampBounds({ ...kept, x: 1400, y: 850 }, [laptop])).toMatchObject({ x: 340, y: 200 })
  expect(clampBounds({ ...kept, x: -600, y: -300 }, [laptop])).toMatchObject({ x: 0, y: 0 })
})

test('a window is never larger than its display, nor smaller than can be used', () => {
  expect(clampBounds({ ...kept, width: 5000, height: 4000 }, [laptop])).toMatchObject(laptop)
  expect(clampBounds({ ...kept, width: 10, height: 10 }, [laptop])).toMatchObject(minimumSize)
  // a display smaller than that wins
  const tiny = { x: 0, y: 0, width: 800, height: 480 }
  expect(clampBounds(kept, [tiny])).toMatchObject(tiny)
})

test('that it was maximised is kept', () => {
  expect(clampBounds({ ...kept, maximized: true }, [laptop]).maximized).toBe(true)
})

test('bounds from a damaged file are refused', () => {
  for (const damaged of [{}, { ...kept, x: 'left' }, { ...kept, width: 0 }, { ...kept, y: 1.5 }, null])
    expect(boundsSchema.safeParse(damaged).success).toBe(false)
})
