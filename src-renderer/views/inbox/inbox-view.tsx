import { Inbox } from 'lucide-react'
import { type ReactElement, useState } from 'react'
import { messageText } from '@shared/a2a/index.ts'
import type { InboxItemView } from '@shared/contract/index.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { InertText } from '../../components/inert-text.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { ViewFrame } from '../../components/view-frame.tsx'
import { useNavigation } from '../../state/navigation.ts'
import { useInbox } from '../../state/queries.ts'
import { strings } from '../../strings/index.ts'
import { InboxDetail } from './inbox-detail.tsx'
import classes from './inbox-view.module.css'

export function InboxView({ id }: { readonly id: number | null }): ReactElement {
  const text = strings.inbox
  const { go } = useNavigation()
  const [state, setState] = useState<'open' | 'all'>('open')
  const { data, error, isPending } = useInbox(state)
  const items = data?.items ?? []
  const selected = items.find((item) => item.id === id)
  return (
    <ViewFrame title={text.title} count={data?.open}>
      <div className={classes['list']}>
        <div className={classes['filters']} role="group" aria-label={text.list}>
          {(['open', 'all'] as const).map((name) => (
            <button key={name} type="button" aria-pressed={state === name} onClick={() => setState(name)}>
              {text.filters[name]}
            </button>
          ))}
        </div>
        {isPending && <Skeleton rows={5} />}
        {error !== null && <ErrorNote error={error} />}
        <ul aria-label={text.list}>
          {items.map((item) => (
            <li key={item.id}>
              <ItemButton item={item} selected={item.id === id} onSelect={() => go({ view: 'inbox', id: item.id })} />
            </li>
          ))}
        </ul>
      </div>
      <div className={classes['detail']}>
        {selected !== undefined && <InboxDetail key={selected.id} item={selected} />}
        {selected === undefined && data !== undefined && (
          <EmptyState icon={Inbox} title={items.length === 0 ? text.none : text.choose}>
            {items.length === 0 && <p>{text.noneHint}</p>}
          </EmptyState>
        )}
      </div>
    </ViewFrame>
  )
}

interface ItemButtonProps {
  readonly item: InboxItemView
  readonly selected: boolean
  readonly onSelect: () => void
}

function ItemButton({ item, selected, onSelect }: ItemButtonProps): ReactElement {
  return (
    <button type="button" className={classes['item']} aria-current={selected} onClick={onSelect}>
      <span className={classes['line']}>
        <strong>
          <InertText text={item.task.peerName} limit={80} />
        </strong>
        <RelativeTime at={item.receivedAt} />
      </span>
      <span className={classes['text']}>
        <InertText text={messageText(item.message)} limit={160} />
      </span>
      <span className={classes['state']}>{strings.inbox.states[item.state]}</span>
    </button>
  )
}
