import { RefreshCw, Waypoints } from 'lucide-react'
import { type ReactElement, useDeferredValue, useMemo, useState } from 'react'
import type { AgentView } from '@shared/contract/index.ts'
import { Button } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { FilterChips } from '../../components/filter-chips.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { ViewFrame } from '../../components/view-frame.tsx'
import { node } from '../../state/bridge.ts'
import { useMirror } from '../../state/mirror.ts'
import { useNavigation } from '../../state/navigation.ts'
import { useAllAgents } from '../../state/queries.ts'
import { strings } from '../../strings/index.ts'
import { AgentDetail } from './agent-detail.tsx'
import { type AgentFilter, agentFilters, matches } from './agent-filters.ts'
import { AgentsTable } from './agents-table.tsx'
import classes from './agents-view.module.css'

export function AgentsView({ aid }: { readonly aid: string | null }): ReactElement {
  const text = strings.agents
  const { go } = useNavigation()
  const endpoint = useMirror((mirror) => mirror.node?.endpoint)
  const hub = useMirror((mirror) => mirror.node?.join.hub?.name)
  const [query, setQuery] = useState('')
  const [filter, setFilter] = useState<AgentFilter>('all')
  const asked = useDeferredValue(query.trim())
  const { data, error, isPending, fetchNextPage, hasNextPage } = useAllAgents(asked)
  const agents = useMemo(() => data?.pages.flatMap((page) => page.agents) ?? [], [data])
  const shown = useMemo(() => agents.filter((agent) => matches(filter, agent)), [agents, filter])
  const select = (agent: AgentView): void => go({ view: 'agents', aid: agent.aid })

  return (
    <ViewFrame
      title={text.title}
      count={data === undefined ? undefined : agents.length}
      actions={
        endpoint?.agentsUrl != null && (
          <CopyButton
            text={endpoint.agentsUrl}
            what="agents URL"
            label={text.copyUrl}
            disabled={endpoint.state !== 'up'}
          />
        )
      }
    >
      <div className={classes['list']}>
        <div className={classes['filters']}>
          <SearchField label={text.search} value={query} onValue={setQuery} />
          <FilterChips
            label={text.columns.agent}
            options={agentFilters}
            names={text.filters}
            value={filter}
            onValue={setFilter}
          />
        </div>
        {error !== null && <ErrorNote error={error} />}
        {isPending && <Skeleton rows={8} />}
        {data !== undefined && shown.length === 0 && (
          <NoAgents filtered={agents.length > 0 || asked !== ''} onClear={() => (setQuery(''), setFilter('all'))} />
        )}
        {shown.length > 0 && (
          <AgentsTable
            agents={shown}
            selected={aid}
            wide={aid === null}
            onSelect={select}
            onEnd={hasNextPage ? () => void fetchNextPage() : undefined}
          />
        )}
        <footer className={classes['footer']}>
          {hub !== undefined && text.updated(hub)}
          <Button
            variant="link"
            icon={<RefreshCw aria-hidden />}
            onClick={() => void node.agents.list({ refresh: true, limit: 1 })}
          >
            {text.refresh}
          </Button>
        </footer>
      </div>
      {aid !== null && <AgentDetail key={aid} aid={aid} onClose={() => go({ view: 'agents', aid: null })} />}
    </ViewFrame>
  )
}

function NoAgents({ filtered, onClear }: { readonly filtered: boolean; readonly onClear: () => void }): ReactElement {
  const text = strings.agents
  return (
    <EmptyState icon={Waypoints} title={filtered ? text.noMatch : text.none}>
      {filtered ? <Button onClick={onClear}>{text.clear}</Button> : <p>{text.noneHint}</p>}
    </EmptyState>
  )
}
