import { once } from 'node:events'
import { createServer } from 'node:http'
import { AgentCard, Task } from '@a2a-js/sdk'
import { DefaultRequestHandler, InMemoryTaskStore, ServerCallContext } from '@a2a-js/sdk/server'
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import express from 'express'
import { z } from 'zod'
import { serveParent } from '../../../src-main/demo/serve-parent.ts'

const inputSchema = z.object({ task: z.unknown() })

/** An agent as the SDK's own documentation builds it: express, its JSON-RPC handler, its store in memory; no checks. */
async function start(input: unknown): Promise<{ port: number }> {
  const { task } = inputSchema.parse(input)
  const card = AgentCard.fromJSON({
    name: 'Bench',
    description: 'Answers GetTask.',
    version: '1.0.0',
    supportedInterfaces: [{ url: 'http://localhost/jsonrpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  })
  const store = new InMemoryTaskStore()
  await store.save(Task.fromJSON(task), new ServerCallContext())
  const executor = { execute: async () => undefined, cancelTask: async () => undefined }
  const requestHandler = new DefaultRequestHandler(card, store, executor)
  const app = express()
  app.use('/jsonrpc', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }))
  const server = createServer({ noDelay: true, keepAliveTimeout: 60_000 }, app)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { port: address.port }
}

serveParent({ start }, async () => undefined)
