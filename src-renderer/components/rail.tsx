import {
  CircleAlert,
  CircleCheck,
  CircleDashed,
  Inbox,
  LayoutDashboard,
  ListChecks,
  type LucideIcon,
  SlidersHorizontal,
  Waypoints,
} from 'lucide-react'
import type { ReactElement } from 'react'
import type { Destination, NodeView } from '@shared/contract/index.ts'
import { useMirror } from '../state/mirror.ts'
import { useNavigation } from '../state/navigation.ts'
import { strings } from '../strings/index.ts'
import { AidText } from './aid.tsx'
import { Logo } from './logo.tsx'
import classes from './rail.module.css'

interface Entry {
  readonly destination: Destination
  readonly icon: LucideIcon
  readonly count?: (node: NodeView) => number
}

/** In the order of their keys, 1 to 5. */
export const railEntries: readonly Entry[] = [
  { destination: { view: 'overview' }, icon: LayoutDashboard },
  { destination: { view: 'agents', aid: null }, icon: Waypoints },
  {
    destination: { view: 'tasks', id: null, requester: null },
    icon: ListChecks,
    count: (node) => node.counts.openTasks,
  },
  { destination: { view: 'inbox', id: null }, icon: Inbox, count: (node) => node.counts.inbox },
  { destination: { view: 'settings' }, icon: SlidersHorizontal },
]

export function Rail(): ReactElement {
  const node = useMirror((mirror) => mirror.node)
  const { destination: current, go } = useNavigation()
  return (
    <div className={classes['rail']}>
      <header className={classes['brand']}>
        <Logo />
        {strings.common.product}
      </header>
      <nav aria-label={strings.common.mainNavigation}>
        {railEntries.map(({ destination, icon: Icon, count }, index) => {
          const selected = destination.view === current.view
          const waiting = node === undefined ? 0 : (count?.(node) ?? 0)
          return (
            <button
              key={destination.view}
              type="button"
              className={classes['entry']}
              aria-current={selected ? 'page' : undefined}
              aria-keyshortcuts={String(index + 1)}
              onClick={() => go(destination)}
            >
              <Icon aria-hidden />
              <span>{strings.common.nav[destination.view]}</span>
              {waiting > 0 && <span className={classes['count']}>{waiting}</span>}
            </button>
          )
        })}
      </nav>
      {node !== undefined && <NodeLine node={node} />}
    </div>
  )
}

function NodeLine({ node }: { readonly node: NodeView }): ReactElement {
  const { icon: Icon, tone, text } = nodeLine(node)
  return (
    <footer className={classes['footer']}>
      <p className={classes[tone]} role="status">
        <Icon aria-hidden />
        {text}
      </p>
      <AidText aid={node.aid} copy />
    </footer>
  )
}

function nodeLine(node: NodeView): { icon: LucideIcon; tone: 'ok' | 'warn' | 'danger'; text: string } {
  const { conflict } = node.endpoint
  if (conflict !== null) return { icon: CircleAlert, tone: 'danger', text: strings.common.portTaken(conflict.address) }
  if (node.join.state === 'joined' && node.join.hub !== null)
    return { icon: CircleCheck, tone: 'ok', text: strings.common.joinedTo(node.join.hub.name) }
  return { icon: CircleDashed, tone: 'warn', text: strings.common.joinStates[node.join.state] }
}
