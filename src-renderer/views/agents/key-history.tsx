import { Circle, CircleCheck, CircleSlash, RefreshCw, TriangleAlert } from 'lucide-react'
import type { ReactElement } from 'react'
import type { AgentDetailView } from '@shared/contract/index.ts'
import { dateOf } from '@shared/format/index.ts'
import { strings } from '../../strings/index.ts'
import classes from './key-history.module.css'

type Entry = AgentDetailView['history'][number]

/** The agent's keys, newest first. */
export function KeyHistory({ entries }: { readonly entries: readonly Entry[] }): ReactElement | null {
  const text = strings.agents.detail
  const newest = entries.at(-1)
  if (newest === undefined) return null
  return (
    <section>
      <h3 className={classes['title']}>{text.history}</h3>
      <ol className={classes['history']}>
        {newest.type !== 'deactivation' && (
          <li>
            <CircleCheck aria-hidden />
            <span>{text.inUse(newest.seq)}</span>
          </li>
        )}
        {entries.toReversed().map((entry) => (
          <li key={entry.seq}>
            <EntryIcon entry={entry} />
            <span>{sentence(entry)}</span>
            <time>{dateOf(entry.at)}</time>
          </li>
        ))}
      </ol>
    </section>
  )
}

function sentence(entry: Entry): string {
  const text = strings.agents.detail
  if (entry.type === 'inception') return text.created(entry.seq)
  if (entry.type === 'deactivation') return text.deactivated
  return entry.emergency ? text.emergency(entry.seq) : text.rotation(entry.seq)
}

function EntryIcon({ entry }: { readonly entry: Entry }): ReactElement {
  if (entry.type === 'inception') return <Circle aria-hidden />
  if (entry.type === 'deactivation') return <CircleSlash aria-hidden />
  return entry.emergency ? <TriangleAlert aria-hidden /> : <RefreshCw aria-hidden />
}
