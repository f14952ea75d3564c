import { ChevronRight, CircleHelp, Inbox } from 'lucide-react'
import type { ReactElement } from 'react'
import { messageText } from '@shared/a2a/index.ts'
import { InertText } from '../../components/inert-text.tsx'
import { Panel } from '../../components/panel.tsx'
import { useNavigation } from '../../state/navigation.ts'
import { useInbox, useTasks } from '../../state/queries.ts'
import { strings } from '../../strings/index.ts'
import rows from './rows.module.css'
import classes from './waiting-panel.module.css'

const shown = 5

/** What only the operator can do: messages of peers, and questions of agents that work for the operator. */
export function WaitingPanel(): ReactElement {
  const text = strings.overview
  const { go } = useNavigation()
  const inbox = useInbox('open').data
  const asking = useTasks({ direction: 'out', state: 'TASK_STATE_INPUT_REQUIRED', limit: shown }).data
  const count = (inbox?.open ?? 0) + (asking?.total ?? 0)
  return (
    <Panel title={text.waiting} count={count}>
      {count === 0 && <p className={rows['nothing']}>{text.nothingWaits}</p>}
      {asking?.tasks.map((task) => (
        <button
          key={task.id}
          type="button"
          className={rows['row']}
          onClick={() => go({ view: 'tasks', id: task.id, requester: task.requester })}
        >
          <CircleHelp aria-hidden className={classes['icon']} />
          <span className={rows['text']}>
            <span className={rows['title']}>
              <InertText text={text.asks(task.peerName)} limit={80} />
            </span>
            <small className={rows['title']}>
              <InertText text={task.title} limit={120} clip />
            </small>
          </span>
          <ChevronRight aria-hidden className={classes['icon']} />
        </button>
      ))}
      {inbox?.items.slice(0, shown).map((item) => (
        <button key={item.id} type="button" className={rows['row']} onClick={() => go({ view: 'inbox', id: item.id })}>
          <Inbox aria-hidden className={classes['icon']} />
          <span className={rows['text']}>
            <span className={rows['title']}>
              <InertText text={text.wants(item.task.peerName)} limit={80} />
            </span>
            <small className={rows['title']}>
              <InertText text={messageText(item.message)} limit={120} clip />
            </small>
          </span>
          <ChevronRight aria-hidden className={classes['icon']} />
        </button>
      ))}
    </Panel>
  )
}
