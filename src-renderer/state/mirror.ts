import { create } from 'zustand'
import type { NodeEvent, NodeView, ShellEvent, ShellView, TaskSummaryView } from '@shared/contract/index.ts'
import type { Artifact } from '@shared/a2a/index.ts'

/** A read-only mirror of what shell and node announce. Nothing but {@link applyEvent} writes to it. */
export interface Mirror {
  readonly shell: ShellView | undefined
  readonly node: NodeView | undefined
  /** Revision of the newest event of each kind; a query that depends on it is asked again when it rises. */
  readonly revisions: {
    readonly shell: number
    readonly node: number
    readonly agents: number
    readonly inbox: number
    readonly tasks: number
  }
  /** Newest change of each task since the page was loaded, by `requester/id`. */
  readonly changedTasks: ReadonlyMap<string, TaskSummaryView>
  /** Replies that are still being written, by `requester/id`. Gone at the next change of the task. */
  readonly previews: ReadonlyMap<string, Artifact>
}

export const useMirror = create<Mirror>(() => ({
  shell: undefined,
  node: undefined,
  revisions: { shell: 0, node: 0, agents: 0, inbox: 0, tasks: 0 },
  changedTasks: new Map(),
  previews: new Map(),
}))

/** Changes kept for tasks; a list that is open is asked again anyway. */
const keptTasks = 1000

export function taskKey(task: { requester: string; id: string }): string {
  return `${task.requester}/${task.id}`
}

/** What an event makes of the mirror. An older revision than the one shown is dropped. */
export function applyEvent(mirror: Mirror, event: NodeEvent | ShellEvent): Mirror {
  const { revisions } = mirror
  switch (event.type) {
    case 'shell': {
      if (event.revision < revisions.shell) return mirror
      const running = event.value.phase === 'running'
      return {
        ...mirror,
        shell: event.value,
        // another node may follow: its slices count from the beginning
        ...(running ? {} : { node: undefined }),
        revisions: running
          ? { ...revisions, shell: event.revision }
          : { shell: event.revision, node: 0, agents: 0, inbox: 0, tasks: 0 },
      }
    }
    case 'node':
      if (event.revision < revisions.node) return mirror
      return { ...mirror, node: event.value, revisions: { ...revisions, node: event.revision } }
    case 'agents':
    case 'inbox':
      return { ...mirror, revisions: { ...revisions, [event.type]: Math.max(revisions[event.type], event.revision) } }
    case 'task': {
      const key = taskKey(event.value)
      const changedTasks = new Map(mirror.changedTasks)
      changedTasks.delete(key)
      changedTasks.set(key, event.value)
      const oldest = changedTasks.keys().next()
      if (changedTasks.size > keptTasks && oldest.done !== true) changedTasks.delete(oldest.value)
      const previews = new Map(mirror.previews)
      previews.delete(key)
      return {
        ...mirror,
        changedTasks,
        previews,
        revisions: { ...revisions, tasks: Math.max(revisions.tasks, event.revision) },
      }
    }
    case 'preview': {
      const previews = new Map(mirror.previews)
      previews.set(taskKey({ requester: event.requester, id: event.taskId }), event.artifact as Artifact)
      return { ...mirror, previews }
    }
    default:
      return mirror
  }
}
