import { ListChecks } from 'lucide-react'
import type { ReactElement } from 'react'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { InertText } from '../../components/inert-text.tsx'
import { Panel } from '../../components/panel.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { TaskStateLabel } from '../../components/state-label.tsx'
import { useNavigation } from '../../state/navigation.ts'
import { useTasks } from '../../state/queries.ts'
import { strings } from '../../strings/index.ts'
import rows from './rows.module.css'

const shown = 8

export function RecentTasks(): ReactElement {
  const text = strings.overview
  const { go } = useNavigation()
  const { data, error, isPending } = useTasks({ limit: shown })
  return (
    <Panel
      title={text.recent}
      action={
        <Button variant="link" onClick={() => go({ view: 'tasks', id: null, requester: null })}>
          {text.allTasks}
        </Button>
      }
    >
      {isPending && <Skeleton rows={4} />}
      {error !== null && <ErrorNote error={error} />}
      {data?.tasks.length === 0 && (
        <div className={rows['empty']}>
          <EmptyState icon={ListChecks} title={text.noTasks}>
            <p>{text.noTasksHint}</p>
            <Button onClick={() => go({ view: 'agents', aid: null })}>{text.findAgents}</Button>
          </EmptyState>
        </div>
      )}
      {data?.tasks.map((task) => (
        <button
          key={`${task.requester}/${task.id}`}
          type="button"
          className={rows['row']}
          onClick={() => go({ view: 'tasks', id: task.id, requester: task.requester })}
        >
          <span className={rows['text']}>
            <span className={rows['title']}>
              <InertText text={task.title} limit={120} clip />
            </span>
            <small>
              <InertText text={task.peerName} limit={80} />
            </small>
          </span>
          <span className={rows['time']}>
            <RelativeTime at={task.updatedAt} />
          </span>
          <span className={rows['state']}>
            <TaskStateLabel task={task} />
          </span>
        </button>
      ))}
    </Panel>
  )
}
