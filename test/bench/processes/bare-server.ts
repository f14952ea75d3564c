import { createServer } from 'node:http'
import { once } from 'node:events'
import { z } from 'zod'
import { serveParent } from '../../../src-main/demo/serve-parent.ts'

const inputSchema = z.object({ status: z.number(), headers: z.array(z.string()), body: z.string() })

/** The least that node:http can do: the same bytes for every request, whatever it says. */
async function start(input: unknown): Promise<{ port: number }> {
  const { status, headers, body } = inputSchema.parse(input)
  const server = createServer({ noDelay: true, keepAliveTimeout: 60_000 }, (_request, response) => {
    response.writeHead(status, headers)
    response.end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { port: address.port }
}

serveParent({ start }, async () => undefined)
