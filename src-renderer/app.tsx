import { type ReactElement, useEffect, useState } from 'react'
import type { ShellView } from '@shared/contract/index.ts'
import { ConflictBanner } from './components/conflict-banner.tsx'
import { Rail, railEntries } from './components/rail.tsx'
import { ToastRegion } from './components/toast-region.tsx'
import { useMirror } from './state/mirror.ts'
import { useNavigation } from './state/navigation.ts'
import { useTheme } from './state/theme.ts'
import { AgentsView } from './views/agents/agents-view.tsx'
import { InboxView } from './views/inbox/inbox-view.tsx'
import { OverviewView } from './views/overview/overview-view.tsx'
import { SettingsView } from './views/settings/settings-view.tsx'
import { FirstNetwork } from './views/setup/first-network.tsx'
import { FirstRun } from './views/setup/first-run.tsx'
import { NodeDown } from './views/setup/node-down.tsx'
import { Unlock } from './views/setup/unlock.tsx'
import { TasksView } from './views/tasks/tasks-view.tsx'
import classes from './app.module.css'

export function App(): ReactElement | null {
  useTheme()
  const shell = useMirror((mirror) => mirror.shell)
  if (shell === undefined) return null
  switch (shell.phase) {
    case 'setup':
      return <FirstRun shell={shell} />
    case 'unlock':
      return <Unlock shell={shell} />
    case 'running':
      return <Running shell={shell} />
    default:
      return <NodeDown shell={shell} />
  }
}

function Running({ shell }: { readonly shell: ShellView }): ReactElement | null {
  useNavigationKeys()
  const node = useMirror((mirror) => mirror.node)
  const { destination } = useNavigation()
  const [decidesLater, setDecidesLater] = useState(false)
  if (node === undefined) return null
  if (node.join.state === 'no_hub' && !decidesLater) {
    return <FirstNetwork shell={shell} node={node} onLater={() => setDecidesLater(true)} />
  }
  const { conflict } = node.endpoint
  return (
    <div className={classes['window']}>
      <Rail />
      <div className={classes['main']}>
        {conflict !== null && <ConflictBanner conflict={conflict} expanded={destination.view === 'overview'} />}
        <View />
      </div>
      <ToastRegion />
    </div>
  )
}

function View(): ReactElement {
  const { destination } = useNavigation()
  switch (destination.view) {
    case 'overview':
      return <OverviewView />
    case 'agents':
      return <AgentsView aid={destination.aid} />
    case 'tasks':
      return (
        <TasksView
          selected={
            destination.id === null || destination.requester === null
              ? null
              : { id: destination.id, requester: destination.requester }
          }
        />
      )
    case 'inbox':
      return <InboxView id={destination.id} />
    case 'settings':
      return <SettingsView />
  }
}

/** Keys 1 to 5 open the views of the rail, except while something is typed or a dialog is open. */
function useNavigationKeys(): void {
  const go = useNavigation((navigation) => navigation.go)
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const typing =
        event.target instanceof HTMLElement &&
        event.target.closest('input:not([type=radio]), textarea, select, dialog') !== null
      if (typing || event.ctrlKey || event.metaKey || event.altKey) return
      const entry = railEntries[Number(event.key) - 1]
      if (entry !== undefined) go(entry.destination)
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [go])
}
