import { artifactSchema, isInterrupted, isTerminal } from '@shared/a2a/index.ts'
import type { NodeDoor, NodeEvent, TaskDetailView, TaskSummaryView } from '@shared/contract/index.ts'

const waitMs = 60_000

/** Waits until a task ends or asks, however long that takes; `timeoutMs` bounds it. */
export async function settle(
  node: NodeDoor['client'],
  task: { id: string; requester: string },
  timeoutMs = Number.POSITIVE_INFINITY,
): Promise<TaskSummaryView> {
  const until = Date.now() + timeoutMs
  for (;;) {
    const left = Math.max(0, Math.min(waitMs, until - Date.now()))
    const now = await node.tasks.wait({ id: task.id, requester: task.requester, timeoutMs: left })
    if (isTerminal(now.state) || isInterrupted(now.state) || Date.now() >= until) return now
  }
}

/**
 * Follows a task live: `onDetail` gets the task as it is, first at once and then after every change; `onPreview` the
 * text of a reply that is still being written, whole each time. Resolves with the task when `isEnd` says so.
 */
export async function follow(
  door: NodeDoor,
  task: { id: string; requester: string },
  on: {
    detail: (task: TaskDetailView) => void
    preview?: (text: string) => void
    isEnd: (task: TaskSummaryView) => boolean
  },
): Promise<TaskDetailView> {
  let wake = (): void => {}
  let changed = true
  const isThis = (id: string, requester: string): boolean => id === task.id && requester === task.requester
  const unsubscribe = door.subscribe((event: NodeEvent) => {
    if (event.type === 'preview' && isThis(event.taskId, event.requester)) {
      const artifact = artifactSchema.safeParse(event.artifact)
      if (artifact.success) on.preview?.(artifact.data.parts.map((part) => part.text ?? '').join(''))
      return
    }
    // the node slice is what a connection begins with: after a drop, something may have been missed
    if (event.type === 'node' || (event.type === 'task' && isThis(event.value.id, event.value.requester))) {
      changed = true
      wake()
    }
  })
  try {
    let seen = -1
    for (;;) {
      if (!changed) await new Promise<void>((resolve) => (wake = resolve))
      changed = false
      const detail = await door.client.tasks.get({ id: task.id, requester: task.requester })
      if (detail.stateSeq > seen) on.detail(detail)
      seen = detail.stateSeq
      if (on.isEnd(detail)) return detail
    }
  } finally {
    unsubscribe()
  }
}
