import { anetKeys, isInterrupted, isTerminal, type Part } from '@shared/a2a/index.ts'
import type { TaskDetailView, TaskEntryView, TaskSummaryView } from '@shared/contract/index.ts'
import { byteCount, fields, inert, inertLine, stateWord, when } from './text.ts'

/** The parts of a message or artifact for a person: texts whole, files by name and size. */
export function partsText(parts: readonly Part[]): string {
  return parts
    .map((part) => {
      const file = part.metadata?.[anetKeys.file]
      if (typeof file === 'object' && file !== null && !Array.isArray(file)) {
        const size = typeof file['size'] === 'number' ? byteCount(file['size']) : 'unknown size'
        return `[file ${inertLine(part.filename ?? 'without a name')}, ${inertLine(part.mediaType ?? 'unknown type')}, ${size}]`
      }
      return inert(part.text ?? (part.url === undefined ? JSON.stringify(part.data, undefined, 2) : `[${part.url}]`))
    })
    .join('\n')
}

export function taskHeadText(task: TaskSummaryView): string {
  return fields([
    ['Task', task.id],
    [task.direction === 'out' ? 'Agent' : 'From', `${inertLine(task.peerName)} (${task.peer})`],
    ['State', stateLine(task)],
    ['Context', inertLine(task.contextId)],
    ['Receipt', task.receipt],
    ['Begun', when(task.createdAt)],
    ['Changed', when(task.updatedAt)],
  ])
}

/** The state with what a person should know about it. */
export function stateLine(task: TaskSummaryView): string {
  const notes = [
    task.reason === null ? undefined : inertLine(task.reason),
    task.cancelRequested && !isTerminal(task.state) ? 'cancel requested' : undefined,
    task.unconfirmed ? 'not confirmed by the other side yet' : undefined,
  ].filter((note) => note !== undefined)
  return stateWord(task.state) + (notes.length === 0 ? '' : ` (${notes.join('; ')})`)
}

/** The whole timeline. */
export function taskText(task: TaskDetailView): string {
  const timeline = task.entries.map((entry) => {
    const body = indented(entryText(entry))
    return `${when(entry.at)}  #${entry.seq}  ${entryTitle(entry)}${body === '' ? '' : `\n${body}`}`
  })
  return [taskHeadText(task), ...timeline].join('\n\n')
}

/** What came out of a task: its artifacts, then the last word of the provider. For `anet send`. */
export function resultText(task: TaskDetailView): string {
  const artifacts = task.artifacts.map((artifact) => partsText(artifact.parts))
  const status = task.entries.findLast((entry) => entry.kind === 'status')
  const word = status?.status.message === undefined ? [] : [partsText(status.status.message.parts)]
  return [...artifacts, ...word, ...endNote(task)].join('\n')
}

/** What to do next, or why there is no result. */
export function endNote(task: TaskSummaryView): string[] {
  if (isInterrupted(task.state)) {
    return [`(task ${task.id} waits for an answer: anet send ${task.peer} "…" --task ${task.id})`]
  }
  if (task.state !== 'TASK_STATE_COMPLETED') return [`(task ${task.id}: ${stateLine(task)})`]
  return []
}

export function entryTitle(entry: TaskEntryView): string {
  switch (entry.kind) {
    case 'message':
      return `message of the ${entry.from}`
    case 'status':
      return stateWord(entry.status.state) + (entry.reason === null ? '' : ` (${inertLine(entry.reason)})`)
    case 'artifact':
      return `artifact ${inertLine(entry.artifact.name ?? entry.artifact.artifactId)}${entry.append ? ' (continued)' : ''}`
    case 'cancel':
      return 'cancel requested'
  }
}

export function entryText(entry: TaskEntryView): string {
  switch (entry.kind) {
    case 'message':
      return partsText(entry.message.parts)
    case 'status':
      return entry.status.message === undefined ? '' : partsText(entry.status.message.parts)
    case 'artifact':
      return partsText(entry.artifact.parts)
    case 'cancel':
      return ''
  }
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, '    ').trimEnd()
}
