import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { z } from 'zod'
import { createEcho } from '../../../src-main/demo/agents/echo.ts'
import { serveAgent } from '../../../src-main/demo/agents/serve.ts'
import { serveParent } from '../../../src-main/demo/serve-parent.ts'

const inputSchema = z.object({ socket: z.string(), tokenFile: z.string() })

/** The echo of the demo without its delays: on a unix socket for its node, and on a port for whoever calls it directly. */
async function start(input: unknown): Promise<{ port: number }> {
  const { socket, tokenFile } = inputSchema.parse(input)
  const token = (await readFile(tokenFile, 'utf8')).trim()
  const served = await serveAgent(createEcho({ chunkDelayMs: 0 }), socket, token)
  const direct = createServer({ noDelay: true, keepAliveTimeout: 60_000 }, (request, response) => {
    served.emit('request', request, response)
  })
  direct.listen(0, '127.0.0.1')
  await once(direct, 'listening')
  const address = direct.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { port: address.port }
}

serveParent({ start }, async () => undefined)
