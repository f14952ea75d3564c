import { Inbox } from 'lucide-react'
import { type ReactElement, useState } from 'react'
import { messageText } from '@shared/a2a/index.ts'
import type { InboxItemView } from '@shared/contract/index.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { FilterChips } from '../../components/filter-chips.tsx'
import { InertText } from '../../components/inert-text.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { TwoColumns } from '../../components/two-columns.tsx'
import { ViewFrame } from '../../components/view-frame.tsx'
import { useNavigation } from '../../state/navigation.ts'
import { useInbox } from '../../state/queries.ts'
import { strings } from '../../strings/index.ts'
import { InboxDetail } from './inbox-detail.tsx'
import classes from './inbox-view.module.css'

const states = ['open', 'all'] as const

export function InboxView({ id }: { readonly id: number | null }): ReactElement {
  const text = strings.inbox
  const { go } = useNavigation()
  const [state, setState] = useState<(typeof states)[number]>('open')
  const { data, error, isPending } = useInbox(state)
  const items = data?.items ?? []
  const selected = items.find((item) => item.id === id)
  return (
    <ViewFrame title={text.title} count={data?.open}>
      <TwoColumns
        list={
          <>
            <div className={classes['filters']}>
              <FilterChips label={text.list} options={states} names={text.filters} value={state} onValue={setState} />
            </div>
            {isPending && <Skeleton rows={5} />}
            {error !== null && <ErrorNote error={error} />}
            <ul aria-label={text.list} className={classes['items']}>
              {items.map((item) => (
                <li key={item.id}>
                  <ItemButton
                    item={item}
                    selected={item.id === id}
                    onSelect={() => go({ view: 'inbox', id: item.id })}
                  />
                </li>
              ))}
            </ul>
          </>
        }
        detail={
          <>
            {selected !== undefined && <InboxDetail key={selected.id} item={selected} />}
            {selected === undefined && data !== undefined && (
              <EmptyState icon={Inbox} title={items.length === 0 ? text.none : text.choose}>
                {items.length === 0 && <p>{text.noneHint}</p>}
              </EmptyState>
            )}
          </>
        }
      />
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
        <InertText text={messageText(item.message)} limit={160} clip />
      </span>
      <span className={classes['state']}>{strings.inbox.states[item.state]}</span>
    </button>
  )
}
