import { isTerminal } from '@shared/a2a/index.ts'
import type { Destination, NodeEvent, NodeView, TaskSummaryView } from '@shared/contract/index.ts'

export interface Note {
  /** A later note of the same key replaces this one. */
  readonly key: string
  readonly title: string
  readonly body: string
  readonly destination: Destination
}

/** The longest list of tasks that is remembered so that one end is told once. */
const remembered = 512

/**
 * Decides what is worth a notification (spec/desktop.md, Notifications): a task of the operator that ended or asks,
 * news in the inbox, a port conflict. Nothing that was so when the application started; nothing twice.
 */
export class NotificationModel {
  #node: NodeView | undefined
  #inboxOpen: number | undefined
  readonly #told = new Map<string, string>()

  /** The notes that an event gives rise to. */
  next(event: NodeEvent): readonly Note[] {
    switch (event.type) {
      case 'node':
        return this.#nodeChanged(event.value)
      case 'inbox':
        return this.#inboxChanged(event.open)
      case 'task':
        return this.#taskChanged(event.value)
      default:
        return []
    }
  }

  #nodeChanged(node: NodeView): readonly Note[] {
    const before = this.#node
    this.#node = node
    this.#inboxOpen ??= node.counts.inbox
    const conflict = node.endpoint.conflict
    if (conflict === null || before?.endpoint.conflict?.since === conflict.since) return []
    const holder = conflict.holder.command ?? 'Another program'
    return [
      {
        key: 'conflict',
        title: 'Your tools cannot reach this node',
        body: `${holder} holds ${conflict.address}. Free the port, then choose Try again.`,
        destination: { view: 'overview' },
      },
    ]
  }

  #inboxChanged(open: number): readonly Note[] {
    const more = this.#inboxOpen !== undefined && open > this.#inboxOpen
    this.#inboxOpen = open
    if (!more) return []
    const body = open === 1 ? 'One message waits for you.' : `${open} messages wait for you.`
    return [{ key: 'inbox', title: 'New in the inbox', body, destination: { view: 'inbox', id: null } }]
  }

  #taskChanged(task: TaskSummaryView): readonly Note[] {
    if (task.direction !== 'out') return []
    const asks = task.state === 'TASK_STATE_INPUT_REQUIRED'
    if (!asks && !isTerminal(task.state)) return []
    const key = `${task.requester}/${task.id}`
    const what = asks ? `asks:${task.stateSeq}` : task.state
    if (this.#told.get(key) === what) return []
    this.#told.delete(key)
    this.#told.set(key, what)
    const oldest = this.#told.keys().next()
    if (this.#told.size > remembered && oldest.done !== true) this.#told.delete(oldest.value)
    return [
      {
        key: `task:${key}`,
        title: `${task.peerName}: ${words[task.state] ?? 'news'}`,
        body: task.title,
        destination: { view: 'tasks', id: task.id, requester: task.requester },
      },
    ]
  }
}

const words: Partial<Record<TaskSummaryView['state'], string>> = {
  TASK_STATE_INPUT_REQUIRED: 'asks you',
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_CANCELED: 'canceled',
  TASK_STATE_REJECTED: 'rejected',
}
