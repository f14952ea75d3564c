import { CircleDot, FileText, type LucideIcon, MessageSquare, ScrollText, Send, X } from 'lucide-react'
import type { ReactElement, ReactNode } from 'react'
import type { TaskDetailView, TaskEntryView } from '@shared/contract/index.ts'
import { clockTime } from '@shared/format/index.ts'
import { StateLabel } from '../../components/state-label.tsx'
import { taskKey, useMirror } from '../../state/mirror.ts'
import { strings } from '../../strings/index.ts'
import { Parts } from './parts.tsx'
import classes from './timeline.module.css'

/** What happened on a task, in order, with the reply that is still being written at the end. */
export function Timeline({ task }: { readonly task: TaskDetailView }): ReactElement {
  const preview = useMirror((mirror) => mirror.previews.get(taskKey(task)))
  return (
    <ol className={classes['timeline']}>
      {task.entries.map((entry) => (
        <Entry key={entry.seq} task={task} entry={entry} />
      ))}
      {preview !== undefined && (
        <Row icon={ScrollText} time="">
          <p className={classes['who']}>
            <StateLabel icon={CircleDot} tone="running">
              {strings.tasks.detail.streaming}
            </StateLabel>
            <small>{strings.tasks.detail.previewNote}</small>
          </p>
          <Parts task={task} seq={-1} parts={preview.parts} theirs source={task.peerName} />
        </Row>
      )}
    </ol>
  )
}

function Entry({ task, entry }: { readonly task: TaskDetailView; readonly entry: TaskEntryView }): ReactElement {
  const text = strings.tasks.detail
  const time = clockTime(entry.at, true)
  const operatorIsRequester = task.direction === 'out'
  switch (entry.kind) {
    case 'message': {
      const mine = (entry.from === 'requester') === operatorIsRequester
      return (
        <Row icon={mine ? Send : MessageSquare} time={time}>
          {mine && <p className={classes['who']}>{text.you}</p>}
          <Parts task={task} seq={entry.seq} parts={entry.message.parts} theirs={!mine} source={task.peerName} />
        </Row>
      )
    }
    case 'status':
      return (
        <Row icon={CircleDot} time={time}>
          <p className={classes['state']}>{text.becomes(strings.common.taskStates[entry.status.state])}</p>
          {entry.reason !== null && (
            <p className={classes['reason']}>{text.reasons[entry.reason] ?? text.reason(entry.reason)}</p>
          )}
          {entry.status.message !== undefined && (
            <Parts
              task={task}
              seq={entry.seq}
              parts={entry.status.message.parts}
              theirs={operatorIsRequester}
              source={task.peerName}
            />
          )}
        </Row>
      )
    case 'artifact':
      return (
        <Row icon={FileText} time={time}>
          <Parts
            task={task}
            seq={entry.seq}
            parts={entry.artifact.parts}
            theirs={operatorIsRequester}
            source={entry.artifact.name ?? task.peerName}
          />
        </Row>
      )
    case 'cancel':
      return (
        <Row icon={X} time={time}>
          <p>{operatorIsRequester ? text.cancelAsked : text.peerCancelAsked}</p>
        </Row>
      )
  }
}

function Row({
  icon: Icon,
  time,
  children,
}: {
  readonly icon: LucideIcon
  readonly time: string
  readonly children: ReactNode
}): ReactElement {
  return (
    <li className={classes['row']}>
      <time>{time}</time>
      <span className={classes['mark']}>
        <Icon aria-hidden />
      </span>
      <div className={classes['what']}>{children}</div>
    </li>
  )
}
