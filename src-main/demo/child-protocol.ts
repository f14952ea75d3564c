import { z } from 'zod'

/** Calls from the demo to its processes, over the channel that they share. */
export const callSchema = z.object({ id: z.number(), method: z.string(), input: z.unknown() })

export const replySchema = z.union([
  z.object({
    id: z.number(),
    error: z.object({ code: z.string(), message: z.string(), remedy: z.string().optional() }),
  }),
  z.object({ id: z.number(), value: z.unknown() }),
])
