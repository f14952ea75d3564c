import { ListChecks } from 'lucide-react'
import { type ReactElement, useDeferredValue, useMemo, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { TwoColumns } from '../../components/two-columns.tsx'
import { ViewFrame } from '../../components/view-frame.tsx'
import { useNavigation } from '../../state/navigation.ts'
import { useAllTasks } from '../../state/queries.ts'
import { strings } from '../../strings/index.ts'
import { TaskDetail } from './task-detail.tsx'
import { type TaskFilter, taskFilters, taskQuery } from './task-filters.ts'
import { TaskList } from './task-list.tsx'
import classes from './tasks-view.module.css'

export function TasksView({ selected }: { readonly selected: { id: string; requester: string } | null }): ReactElement {
  const text = strings.tasks
  const { go } = useNavigation()
  const [search, setSearch] = useState('')
  const [filter, setFilter] = useState<TaskFilter>('all')
  const asked = useDeferredValue(search.trim())
  const { data, error, isPending, fetchNextPage, hasNextPage } = useAllTasks({
    ...taskQuery(filter),
    ...(asked === '' ? {} : { text: asked }),
  })
  const tasks = useMemo(() => data?.pages.flatMap((page) => page.tasks) ?? [], [data])
  const filtered = filter !== 'all' || asked !== ''
  const empty = data !== undefined && tasks.length === 0

  return (
    <ViewFrame title={text.title} count={data?.pages[0]?.total}>
      <TwoColumns
        list={
          <>
            <div className={classes['filters']}>
              <SearchField label={text.search} value={search} onValue={setSearch} />
              <select
                aria-label={text.list}
                value={filter}
                onChange={(event) => setFilter(event.target.value as TaskFilter)}
              >
                {taskFilters.map((name) => (
                  <option key={name} value={name}>
                    {text.filters[name]}
                  </option>
                ))}
              </select>
            </div>
            {error !== null && <ErrorNote error={error} />}
            {isPending && <Skeleton rows={8} />}
            {empty && filtered && <p className={classes['nothing']}>{text.noMatch}</p>}
            <TaskList
              tasks={tasks}
              selected={selected}
              onSelect={(task) => go({ view: 'tasks', id: task.id, requester: task.requester })}
              onEnd={hasNextPage ? () => void fetchNextPage() : undefined}
            />
          </>
        }
        detail={
          <>
            {selected !== null && <TaskDetail key={`${selected.requester}/${selected.id}`} task={selected} />}
            {selected === null && (
              <EmptyState icon={ListChecks} title={empty && !filtered ? text.none : text.choose}>
                {empty && !filtered && (
                  <>
                    <p>{text.noneHint}</p>
                    <Button onClick={() => go({ view: 'agents', aid: null })}>{text.findAgents}</Button>
                  </>
                )}
              </EmptyState>
            )}
          </>
        }
      />
    </ViewFrame>
  )
}
