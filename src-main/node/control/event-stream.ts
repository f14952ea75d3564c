import type { ServerResponse } from 'node:http'
import type { NodeDoor, NodeEvent } from '@shared/contract/index.ts'

const heartbeatMs = 15_000
/** A reader that lets this many different things wait is cut off; it connects again and starts from what is so then. */
const mostWaiting = 10_000

/**
 * Sends the events of a node as server-sent events until the client leaves or `signal` ends it. A client that reads
 * slowly gets the newest of each slice and of each task instead of every step, and no preview that was overtaken: what
 * waits for it is bounded, and nobody else notices.
 */
export function streamEvents(door: NodeDoor, response: ServerResponse, signal: AbortSignal): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const waiting = new Map<string, NodeEvent>()
  let blocked = false

  const flush = (): void => {
    for (const [key, event] of waiting) {
      if (blocked) return
      waiting.delete(key)
      blocked = !response.write(`data: ${JSON.stringify(event)}\n\n`)
    }
  }
  response.on('drain', () => {
    blocked = false
    flush()
  })
  const unsubscribe = door.subscribe((event) => {
    const key = keyOf(event)
    // deleted first, so that the newest event also takes its place in the order of things
    waiting.delete(key)
    waiting.set(key, event)
    if (waiting.size > mostWaiting) response.destroy()
    else flush()
  })
  const heartbeat = setInterval(() => {
    if (!blocked) response.write(': alive\n\n')
  }, heartbeatMs)
  heartbeat.unref()

  const end = (): void => {
    response.end()
  }
  signal.addEventListener('abort', end, { once: true })
  response.once('close', () => {
    signal.removeEventListener('abort', end)
    clearInterval(heartbeat)
    unsubscribe()
    waiting.clear()
  })
}

function keyOf(event: NodeEvent): string {
  switch (event.type) {
    case 'task':
      return `task ${event.value.requester} ${event.value.id}`
    case 'preview':
      return `preview ${event.requester} ${event.taskId}`
    default:
      return event.type
  }
}
