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

/** What would be interrupted, one sentence each. A node of another process goes on without the window. */
async function workInFlight(session: QuitOptions['session']): Promise<readonly string[]> {
  const { view, attached } = session
  if (view === undefined || attached) return []
  const { outbox } = view.counts
  const backends = await tasksOfBackends(session)
  return [
    ...(outbox === 0
      ? []
      : [
          `${outbox === 1 ? '1 message is' : `${outbox} messages are`} not confirmed yet. ANet sends again when it starts.`,
        ]),
    ...(backends === 0
      ? []
      : [`A backend works on ${backends === 1 ? '1 task' : `${backends} tasks`}. What it did is then not known.`]),
  ]
}

async function tasksOfBackends({ door }: Pick<Session, 'door'>): Promise<number> {
  try {
    const { items } = await door.client.inbox.list({ state: 'open', limit: 200 })
    return items.filter(({ state }) => state === 'forwarding').length
  } catch {
    // a node that cannot say so must not keep anybody from quitting
    return 0
  }
}
