import type { NodeEvent } from '@shared/contract/index.ts'
import { Topic, type Unsubscribe } from '../ports.ts'
import { artifactWithoutBytes, type TaskUpdate } from '../tasks/index.ts'
import { taskSummaryView } from './task-views.ts'
import { namesOf } from './names.ts'
import { nodeView } from './node-operations.ts'
import type { ApiParts } from './parts.ts'

/** Changes within this time become one event: a burst of stream chunks must not repaint a window for each. */
const coalesceMs = 50

export interface NodeEvents {
  subscribe(listener: (event: NodeEvent) => void): Unsubscribe
  /** Announces that a list of agents looks different now. */
  agentsChanged(): void
  close(): void
}

/**
 * Gathers what the floors announce into the slices of the contract. While nobody listens nothing is computed; the
 * revisions still rise, so that a listener who comes back sees that it missed something.
 */
export function createNodeEvents(parts: ApiParts): NodeEvents {
  const { network, tasks, peers, endpoint, log } = parts
  const topic = new Topic<NodeEvent>((error) => log.error({ err: error }, 'a listener of node events failed'))
  const revisions = { node: 0, task: 0, agents: 0, inbox: 0 }
  const changed = { node: false, agents: false, inbox: false, tasks: new Map<string, TaskUpdate['task']>() }
  let timer: NodeJS.Timeout | undefined

  const flush = (): void => {
    timer = undefined
    const changedTasks = [...changed.tasks.values()]
    const { node, agents, inbox } = changed
    changed.tasks.clear()
    changed.node = changed.agents = changed.inbox = false
    if (topic.size === 0) return
    const nameOf = namesOf(
      peers,
      changedTasks.map((task) => task.peer),
    )
    for (const task of changedTasks) {
      topic.publish({ type: 'task', revision: revisions.task, value: taskSummaryView(task, nameOf) })
    }
    if (agents) topic.publish({ type: 'agents', revision: revisions.agents })
    const view = nodeView(parts)
    if (inbox) topic.publish({ type: 'inbox', revision: revisions.inbox, open: view.counts.inbox })
    // every change moves a count of the node slice
    if (node || agents || inbox || changedTasks.length > 0) {
      topic.publish({ type: 'node', revision: revisions.node, value: view })
    }
  }
  const soon = (): void => {
    revisions.node += 1
    timer ??= setTimeout(flush, coalesceMs)
    timer.unref()
  }
  const mark = (slice: 'node' | 'agents' | 'inbox'): void => {
    if (slice !== 'node') revisions[slice] += 1
    changed[slice] = true
    soon()
  }

  const ends = [
    network.onJoinState(() => mark('node')),
    network.directory.onChange(() => mark('agents')),
    endpoint.onStatus(() => mark('node')),
    tasks.inbox.onChange(() => mark('inbox')),
    tasks.onChange(({ task }) => {
      revisions.task += 1
      changed.tasks.set(`${task.key.requester} ${task.key.id}`, task)
      soon()
    }),
    tasks.onPreview(({ key, artifact }) => {
      if (topic.size === 0) return
      topic.publish({
        type: 'preview',
        taskId: key.id,
        requester: key.requester,
        artifact: artifactWithoutBytes(artifact),
      })
    }),
  ]

  return {
    subscribe(listener) {
      const end = topic.subscribe(listener)
      listener({ type: 'node', revision: revisions.node, value: nodeView(parts) })
      return end
    },
    agentsChanged: () => mark('agents'),
    close() {
      clearTimeout(timer)
      for (const end of ends) end()
    },
  }
}
