import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { createClient, nodeContract, type NodeDoor, type NodeEvent, nodeEventSchema } from '@shared/contract/index.ts'
import { AnetError } from '@shared/errors.ts'
import { lockHolder, readPrivateFile } from '../data-dir/index.ts'
import { controlFiles, controlPaths } from './files.ts'

/** The node of another process, through its control plane. */
export interface ControlDoor extends NodeDoor {
  /** Ends the event connection; calls that are under way end by themselves. */
  close(): void
}

/** A detailed task with a long timeline fits; more than this is not an answer of a node. */
const maxAnswerBytes = 256 * 1024 * 1024
const maxEventChars = 8 * 1024 * 1024
const retryMs = { first: 250, most: 5000 }

/**
 * Reaches the node that runs on a data directory. Address and token are read anew for each call, so that the door stays
 * usable across a restart of the node. Errors of every call: `node_not_running`, `node_connection_lost`, and those of
 * the operation. Subscriptions connect again by themselves; the node slice that follows says what changed meanwhile.
 * `onConnection` is told when the event connection comes and goes.
 */
export function connectControl(options: { dataDir: string; onConnection?: (connected: boolean) => void }): ControlDoor {
  const { dataDir, onConnection = () => {} } = options
  const listeners = new Set<(event: NodeEvent) => void>()
  let events: { close(): void } | undefined
  let lastNode: NodeEvent | undefined

  const deliver = (event: NodeEvent): void => {
    if (event.type === 'node') lastNode = event
    for (const listener of listeners) listener(event)
  }

  return {
    client: createClient(nodeContract, (method, input) => callNode(dataDir, method, input)),
    subscribe(listener) {
      listeners.add(listener)
      if (events === undefined) events = followEvents(dataDir, deliver, onConnection)
      else if (lastNode !== undefined) listener(lastNode)
      return () => {
        listeners.delete(listener)
        if (listeners.size > 0) return
        events?.close()
        events = undefined
        lastNode = undefined
      }
    },
    close() {
      listeners.clear()
      events?.close()
      events = undefined
    },
  }
}

async function callNode(dataDir: string, method: string, input: unknown): Promise<unknown> {
  const response = await ask(dataDir, {
    method: 'POST',
    path: controlPaths.call,
    body: JSON.stringify({ method, input }),
  })
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.byteLength
      if (size > maxAnswerBytes) {
        response.destroy()
        throw new AnetError('answer_too_large', 'The answer of the node is too large.')
      }
      chunks.push(chunk)
    }
  } catch (error) {
    throw error instanceof AnetError ? error : connectionLost(error)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch (cause) {
    throw connectionLost(cause)
  }
}

function followEvents(
  dataDir: string,
  deliver: (event: NodeEvent) => void,
  onConnection: (connected: boolean) => void,
): { close(): void } {
  const closing = new AbortController()
  const { signal } = closing
  let timer: NodeJS.Timeout | undefined
  let wait = retryMs.first

  const connect = async (): Promise<void> => {
    let connected = false
    try {
      const response = await ask(dataDir, { method: 'GET', path: controlPaths.events, signal })
      if (response.statusCode !== 200) {
        response.destroy()
        throw new AnetError('events_refused', 'The node refused its events.')
      }
      connected = true
      onConnection(true)
      for await (const event of eventsOf(response)) {
        wait = retryMs.first
        if (!signal.aborted) deliver(event)
      }
    } catch {
      // whatever ended the connection: it is tried again below, and calls report their own errors
    }
    if (connected) onConnection(false)
    if (signal.aborted) return
    timer = setTimeout(() => void connect(), wait)
    wait = Math.min(wait * 2, retryMs.most)
  }
  void connect()
  return {
    close() {
      closing.abort()
      clearTimeout(timer)
    },
  }
}

/** Reads the one form of server-sent events that a node writes: `data: <JSON>` and an empty line. */
async function* eventsOf(response: IncomingMessage): AsyncGenerator<NodeEvent> {
  response.setEncoding('utf8')
  let rest = ''
  for await (const chunk of response as AsyncIterable<string>) {
    const blocks = (rest + chunk).split('\n\n')
    rest = blocks.pop() ?? ''
    if (rest.length > maxEventChars) throw new AnetError('bad_answer', 'An event of the node is too large.')
    for (const block of blocks) {
      if (!block.startsWith('data: ')) continue
      const event = nodeEventSchema.safeParse(JSON.parse(block.slice('data: '.length)))
      // an event of a newer node that this program does not know says nothing to it
      if (event.success) yield event.data
    }
  }
}

/** Sends one request with the token of now; resolves with the head of the answer. */
async function ask(
  dataDir: string,
  options: { method: 'GET' | 'POST'; path: string; body?: string; signal?: AbortSignal },
): Promise<IncomingMessage> {
  const { method, path, body, signal } = options
  const files = controlFiles(dataDir)
  const [holder, address, token] = await Promise.all([
    lockHolder(dataDir),
    readLine(files.address),
    readLine(files.token),
  ])
  // a node that was killed leaves its files, and somebody else may listen on its port by now
  if (holder === undefined) throw nodeNotRunning(dataDir)
  const port = address === undefined ? undefined : /^127\.0\.0\.1:(\d{1,5})$/.exec(address)?.[1]
  if (port === undefined || token === undefined || !/^[0-9a-f]{64}$/.test(token)) throw nodeNotRunning(dataDir)
  const outgoing = request({
    host: '127.0.0.1',
    port: Number(port),
    method,
    path,
    agent: false,
    ...(signal === undefined ? {} : { signal }),
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
  })
  outgoing.end(body)
  try {
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
    return response
  } catch (error) {
    // the node begins to listen after it took the lock, and ends before it gives it back
    throw (error as NodeJS.ErrnoException).code === 'ECONNREFUSED' ? nodeNotRunning(dataDir) : connectionLost(error)
  }
}

async function readLine(path: string): Promise<string | undefined> {
  const bytes = await readPrivateFile(path, { maxBytes: 256 })
  return bytes?.toString('utf8').trim()
}

function nodeNotRunning(dataDir: string): AnetError {
  return new AnetError('node_not_running', `No ANet node runs on ${dataDir}.`, { remedy: 'Start it with "anet up".' })
}

function connectionLost(cause: unknown): AnetError {
  return new AnetError('node_connection_lost', 'The connection to the node was lost before it answered.', {
    remedy: 'See whether it still runs with "anet status".',
    cause,
  })
}
