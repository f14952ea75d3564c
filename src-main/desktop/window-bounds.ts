import { z } from 'zod'

export const boundsSchema = z.object({
  x: z.int(),
  y: z.int(),
  width: z.int().min(1),
  height: z.int().min(1),
  maximized: z.boolean(),
})
export type Bounds = z.infer<typeof boundsSchema>

interface Area {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export const minimumSize = { width: 940, height: 600 }
const defaultSize = { width: 1280, height: 800 }

/** Kept bounds, brought back onto the displays that exist now. `areas`: their work areas, the primary one first. */
export function clampBounds(kept: Bounds | undefined, areas: readonly Area[]): Bounds {
  const primary = areas[0] ?? { x: 0, y: 0, ...defaultSize }
  const area = areas.find((candidate) => kept !== undefined && overlaps(kept, candidate)) ?? primary
  const width = Math.min(Math.max(kept?.width ?? defaultSize.width, minimumSize.width), area.width)
  const height = Math.min(Math.max(kept?.height ?? defaultSize.height, minimumSize.height), area.height)
  const centred = {
    x: area.x + Math.floor((area.width - width) / 2),
    y: area.y + Math.floor((area.height - height) / 2),
  }
  const wanted = kept !== undefined && overlaps(kept, area) ? kept : centred
  return {
    x: Math.min(Math.max(wanted.x, area.x), area.x + area.width - width),
    y: Math.min(Math.max(wanted.y, area.y), area.y + area.height - height),
    width,
    height,
    maximized: kept?.maximized ?? false,
  }
}

function overlaps(a: Area, b: Area): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}
