import { Ban, Check, CircleHelp, CirclePlay, CircleX, Hourglass, type LucideIcon, Send } from 'lucide-react'
import type { ReactElement, ReactNode } from 'react'
import type { TaskState } from '@shared/a2a/index.ts'
import type { TaskSummaryView } from '@shared/contract/index.ts'
import { strings } from '../strings/index.ts'
import classes from './state-label.module.css'

export type Tone = 'normal' | 'running' | 'attention' | 'failure'

/** An icon and a word; colour only repeats them. */
export function StateLabel({
  icon: Icon,
  tone,
  children,
}: {
  readonly icon: LucideIcon
  readonly tone: Tone
  readonly children: ReactNode
}): ReactElement {
  return (
    <span className={`${classes['label']} ${classes[tone]}`}>
      <Icon aria-hidden />
      {children}
    </span>
  )
}

const taskStates: Record<TaskState, { icon: LucideIcon; tone: Tone }> = {
  TASK_STATE_SUBMITTED: { icon: Send, tone: 'running' },
  TASK_STATE_WORKING: { icon: CirclePlay, tone: 'running' },
  TASK_STATE_INPUT_REQUIRED: { icon: CircleHelp, tone: 'attention' },
  TASK_STATE_AUTH_REQUIRED: { icon: Hourglass, tone: 'attention' },
  TASK_STATE_COMPLETED: { icon: Check, tone: 'normal' },
  TASK_STATE_FAILED: { icon: CircleX, tone: 'failure' },
  TASK_STATE_CANCELED: { icon: Ban, tone: 'normal' },
  TASK_STATE_REJECTED: { icon: CircleX, tone: 'failure' },
}

/** The state as it is for the operator: of a peer's task the operator is the one who was asked. */
export function TaskStateLabel({
  task,
}: {
  readonly task: Pick<TaskSummaryView, 'state' | 'direction'>
}): ReactElement {
  const { icon, tone } = taskStates[task.state]
  const words = strings.common.taskStates
  return (
    <StateLabel icon={icon} tone={tone}>
      {(task.direction === 'in' ? strings.common.peerTaskStates[task.state] : undefined) ?? words[task.state]}
    </StateLabel>
  )
}
