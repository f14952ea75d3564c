import { ArrowDownLeft, ArrowUpRight } from 'lucide-react'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, type ReactElement, useEffect, useRef } from 'react'
import type { TaskSummaryView } from '@shared/contract/index.ts'
import { InertText } from '../../components/inert-text.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { TaskStateLabel } from '../../components/state-label.tsx'
import { taskKey } from '../../state/mirror.ts'
import { strings } from '../../strings/index.ts'
import classes from './task-list.module.css'

const rowHeight = 77

export interface TaskListProps {
  readonly tasks: readonly TaskSummaryView[]
  readonly selected: { id: string; requester: string } | null
  readonly onSelect: (task: TaskSummaryView) => void
  readonly onEnd: (() => void) | undefined
}

/** Newest first. Arrow keys move the selection; rows are drawn as they come into view. */
export function TaskList({ tasks, selected, onSelect, onEnd }: TaskListProps): ReactElement {
  const scroll = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: tasks.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => rowHeight,
    overscan: 8,
  })
  const items = rows.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (tasks.length > 0 && last >= tasks.length - 1) onEnd?.()
  }, [last, tasks.length, onEnd])

  const selectedKey = selected === null ? null : taskKey(selected)
  const move = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0) return
    event.preventDefault()
    const at = tasks.findIndex((task) => taskKey(task) === selectedKey)
    const next = tasks[Math.min(Math.max(at + step, 0), tasks.length - 1)]
    if (next === undefined) return
    onSelect(next)
    rows.scrollToIndex(tasks.indexOf(next))
  }
  const activeId = selectedKey === null ? undefined : `task-${selectedKey}`
  return (
    <div
      ref={scroll}
      className={classes['list']}
      role="listbox"
      tabIndex={0}
      aria-label={strings.tasks.list}
      aria-activedescendant={activeId}
      onKeyDown={move}
    >
      <div role="presentation" className={classes['rows']} style={{ height: rows.getTotalSize() }}>
        {items.map((item) => {
          const task = tasks[item.index]
          return task === undefined ? null : (
            <TaskRow
              key={taskKey(task)}
              task={task}
              top={item.start}
              selected={taskKey(task) === selectedKey}
              onSelect={onSelect}
            />
          )
        })}
      </div>
    </div>
  )
}

interface TaskRowProps {
  readonly task: TaskSummaryView
  readonly top: number
  readonly selected: boolean
  readonly onSelect: (task: TaskSummaryView) => void
}

function TaskRow({ task, top, selected, onSelect }: TaskRowProps): ReactElement {
  const text = strings.tasks
  const out = task.direction === 'out'
  const Arrow = out ? ArrowUpRight : ArrowDownLeft
  return (
    <div
      id={`task-${taskKey(task)}`}
      role="option"
      aria-selected={selected}
      className={classes['row']}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => onSelect(task)}
    >
      <p className={classes['title']}>
        <InertText text={task.title} limit={120} clip />
      </p>
      <p className={classes['peer']}>
        <Arrow aria-hidden />
        <InertText text={out ? text.to(task.peerName) : text.from(task.peerName)} limit={80} />
      </p>
      <p className={classes['state']}>
        <TaskStateLabel task={task} />
        {task.unconfirmed && <span>{text.unconfirmed}</span>}
        <RelativeTime at={task.updatedAt} />
      </p>
    </div>
  )
}
