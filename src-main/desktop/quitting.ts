import type { Session } from './session.ts'

export interface QuitOptions {
  readonly session: Pick<Session, 'attached' | 'view' | 'door'>
  /** Asks the operator whether to quit all the same. */
  readonly confirm: (inFlight: readonly string[]) => Promise<boolean>
  /** Ends node, demo and application. */
  readonly end: () => Promise<void>
}

/** Quitting: asks while work is in flight, and happens once. */
export function createQuit({ session, confirm, end }: QuitOptions): () => Promise<void> {
  let quitting = false
  return async () => {
    if (quitting) return
    quitting = true
    const inFlight = await workInFlight(session)
    if (inFlight.length > 0 && !(await confirm(inFlight))) {
      quitting = false
      return
    }
    await end()
  }
}

/**
 * What would be lost by stopping, one sentence each: only what a backend does right now. Tasks and messages are durable
 * and go on at the next start; a node of another process goes on without the window.
 */
async function workInFlight(session: QuitOptions['session']): Promise<readonly string[]> {
  if (session.view === undefined || session.attached) return []
  try {
    const { items } = await session.door.client.inbox.list({ state: 'open', limit: 200 })
    const count = items.filter(({ state }) => state === 'forwarding').length
    if (count === 0) return []
    return [`A backend works on ${count === 1 ? '1 task' : `${count} tasks`}. What it did is then not known.`]
  } catch {
    // a node that cannot say so must not keep anybody from quitting
    return []
  }
}
