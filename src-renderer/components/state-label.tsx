import { Ban, Check, CircleHelp, CirclePlay, CircleX, Hourglass, type LucideIcon, Send } from 'lucide-react'
import type { ReactElement, ReactNode } from 'react'
import type { TaskState } from '@shared/a2a/index.ts'
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

export function TaskStateLabel({ state }: { readonly state: TaskState }): ReactElement {
  const { icon, tone } = taskStates[state]
  return (
    <StateLabel icon={icon} tone={tone}>
      {strings.common.taskStates[state]}
    </StateLabel>
  )
}
