import { createHash, timingSafeEqual } from 'node:crypto'
import { chmod, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { AgentCard } from '@a2a-js/sdk'
import { type AgentExecutor, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server'
import { jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import express from 'express'

export interface AgentDescription {
  readonly name: string
  readonly description: string
  readonly skill: {
    readonly id: string
    readonly name: string
    readonly description: string
    readonly tags: readonly string[]
    readonly examples: readonly string[]
  }
}

export interface SampleAgent {
  readonly describe: AgentDescription
  readonly executor: AgentExecutor
}

/**
 * Serves an agent with the SDK's own server on a unix socket that only this user may open. Both bindings and the card
 * ask for the bearer token.
 */
export async function serveAgent(agent: SampleAgent, socketPath: string, token: string): Promise<Server> {
  const card = cardOf(agent.describe)
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), agent.executor)
  const app = express()
  app.disable('x-powered-by')
  app.use((request, response, next) => {
    if (isToken(request.get('authorization'), token)) next()
    else response.status(401).json({ error: { code: 401, status: 'UNAUTHENTICATED', message: 'A token is needed.' } })
  })
  // the SDK's own limit is 100 kB
  app.use(express.json({ limit: '96mb', type: ['application/json', 'application/a2a+json'] }))
  app.get('/.well-known/agent-card.json', (_request, response) => void response.json(AgentCard.toJSON(card)))
  app.use('/jsonrpc', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }))
  app.use('/rest', restHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }))
  const server = createServer(app)
  await rm(socketPath, { force: true })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(socketPath, resolve)
  })
  await chmod(socketPath, 0o600)
  return server
}

function isToken(header: string | undefined, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(header ?? ''), digest(`Bearer ${token}`))
}

function cardOf({ name, description, skill }: AgentDescription): AgentCard {
  return AgentCard.fromJSON({
    name,
    description,
    version: '1.0.0',
    supportedInterfaces: [
      { url: 'http://localhost/jsonrpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: 'http://localhost/rest', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    ],
    capabilities: { streaming: true, pushNotifications: false },
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    securityRequirements: [{ schemes: { bearer: { list: ['a2a'] } } }],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [skill],
  })
}
