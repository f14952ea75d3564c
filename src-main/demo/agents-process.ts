import { readFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import { z } from 'zod'
import { createAsker } from './agents/asker.ts'
import { createEcho } from './agents/echo.ts'
import { serveAgent } from './agents/serve.ts'
import { createSummariser } from './agents/summariser.ts'
import { serveParent } from './serve-parent.ts'

const inputSchema = z.object({
  tokenFile: z.string(),
  sockets: z.object({ echo: z.string(), asker: z.string(), summariser: z.string() }),
})

/** Long enough to see the reply grow. */
const chunkDelayMs = 20

let servers: readonly Server[] = []

async function start(input: unknown): Promise<null> {
  const { tokenFile, sockets } = inputSchema.parse(input)
  const token = (await readFile(tokenFile, 'utf8')).trim()
  servers = await Promise.all([
    serveAgent(createEcho({ chunkDelayMs }), sockets.echo, token),
    serveAgent(createAsker(), sockets.asker, token),
    serveAgent(createSummariser(), sockets.summariser, token),
  ])
  return null
}

serveParent({ start }, async () => {
  for (const server of servers) {
    server.close()
    server.closeAllConnections()
  }
})
